import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as listenInSilence, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDeps } from '../../activities/connections.ts';
import { createRootLogger } from '../../src/log.ts';
import { alignAlarms, tenantsToTell } from '../../src/store/alarms.ts';
import { openHold } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { Notify } from '../../src/tenants/sections.ts';
import { createNotifier } from '../../src/worker/chores.ts';
import { unlessStalled } from '../harness/pace.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { freshStore } from '../store/stores.ts';

const { signal } = new AbortController();

/** A hold, an alarm and a digest that are due. */
async function due(): Promise<Store> {
  const { store } = await freshStore('sqlite');
  await readTenantState(store, 'acme');
  const hold = { tenantId: 'acme', jobCandidateId: '7', period: 1, code: 'NO_SHOW', message: '', answers: ['retry'] };
  await openHold(store, hold);
  const trouble = { tenantId: 'acme', kind: 'tenant-paused', subject: 'tenant', reason: 'UNAUTHORIZED' } as const;
  await alignAlarms(store, [{ ...trouble, message: 'The key <of acme> is refused.' }]);
  return store;
}

const MINUTE_AGO = new Date(Date.now() - 60_000).toISOString().slice(11, 16);

function tell(store: Store, notify: Partial<Notify>, stop = signal) {
  const send = createNotifier({ store, log: createRootLogger(undefined, 'silent') } as ActivityDeps);
  const told = { timezone: 'UTC', digest: MINUTE_AGO, ...notify };
  const partner = { allowPrivateAddress: true };
  return send({ tenant: 'acme', partner, configHash: 'a', notify: told } as unknown as Tenant, stop);
}

/** Takes a message only where it is in the form of this chat, as Slack and Teams do: anything else is 400. */
async function chat(accepts: (body: Record<string, unknown>) => boolean) {
  const taken: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as Record<string, unknown>;
    if (accepts(body)) taken.push(body);
    response.writeHead(accepts(body) ? 200 : 400).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, taken };
}

const hasText = (body: Record<string, unknown>): boolean =>
  typeof body['text'] === 'string' && Object.keys(body).length === 1;
const isCard = ({ type, attachments }: Record<string, unknown>): boolean => {
  const [card] = (attachments ?? []) as { contentType: string; content: { type: string; body: { text: string }[] } }[];
  return (
    type === 'message' &&
    card?.contentType === 'application/vnd.microsoft.card.adaptive' &&
    card.content.type === 'AdaptiveCard' &&
    card.content.body.every((block) => block.text !== '')
  );
};

test.each([
  ['slack', hasText, 'The key &lt;of acme&gt; is refused.'],
  ['teams', hasText, 'The key <of acme> is refused.'],
  ['teams-card', isCard, 'The key <of acme> is refused.'],
] as const)('a receiver of the form %s takes holds, alarms and digests', async (form, accepts, message) => {
  const store = await due();
  const { url, taken } = await chat(accepts);
  expect(await tell(store, { url, form: 'webhook' })).toBe('failed');
  expect(taken).toEqual([]);
  expect(await tell(store, { url, form })).toBe('done');
  const said = taken.map((body) => JSON.stringify(body));
  expect(said).toHaveLength(3);
  expect(said[0]).toMatch(/NO_SHOW.*job candidate 7.*retry.*hirebridge hold show/);
  expect(said[1]).toContain(message);
  expect(said[2]).toContain('Holds: 0 opened, 1 open');
  expect(await tenantsToTell(store)).toEqual(new Set());
});

test('an address of a chat may be a secret of its own', async () => {
  const store = await due();
  const { url, taken } = await chat(hasText);
  const file = join(await scratchFolder(), 'slack.url');
  await writeFile(file, `${url}\n`);
  expect(await tell(store, { url: `file:${file}`, form: 'slack' })).toBe('done');
  expect(taken).toHaveLength(3);
});

test('a mail server that is busy at first gets each notice as mail, under one Message-ID', async () => {
  const store = await due();
  const mails: { to: string[]; text: string }[] = [];
  let busy = true;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('no')),
    async onData(stream, session, done) {
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: await text(stream) });
      const failed = busy ? Object.assign(new Error('busy'), { responseCode: 451 }) : null;
      busy = false;
      done(failed);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  const file = join(await scratchFolder(), 'smtp.url');
  const mail = { form: 'mail' as const, url: `file:${file}`, from: 'hirebridge@example.org', to: ['hr@acme.example'] };
  await writeFile(file, `smtp://hirebridge:wrong@127.0.0.1:${port}\n`);
  expect(await tell(store, mail)).toBe('failed');
  expect(mails).toEqual([]);
  await writeFile(file, `smtp://hirebridge:p%40ss@127.0.0.1:${port}\n`);
  expect(await tell(store, mail)).toBe('failed');
  expect(await tell(store, mail)).toBe('done');
  expect(mails).toHaveLength(4);
  const ids = mails.map(({ text: sent }) => /^Message-ID: (.*)$/im.exec(sent)?.[1]?.trim());
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
  expect(mails[1]).toMatchObject({ to: ['hr@acme.example'], text: expect.stringMatching(/Subject: acme: NO_SHOW/) });
  expect(mails[3]?.text).toContain('Holds: 0 opened, 1 open');
});

test('a mail server that dies as it takes a notice and comes back has each, under its Message-ID', async () => {
  const store = await due();
  const mails: string[] = [];
  const sockets = new Set<Socket>();
  const begin = async (port: number, dies: boolean) => {
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      authOptional: true,
      async onData(stream, _session, done) {
        mails.push(await text(stream));
        if (dies) for (const socket of sockets) socket.destroy();
        else done();
      },
    });
    server.server.on('connection', (socket: Socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return server;
  };
  const dying = await begin(0, true);
  const { port } = dying.server.address() as AddressInfo;
  const file = join(await scratchFolder(), 'smtp.url');
  await writeFile(file, `smtp://127.0.0.1:${port}\n`);
  const mail = { form: 'mail' as const, url: `file:${file}`, from: 'a@example.org', to: ['hr@acme.example'] };
  expect(await tell(store, mail)).toBe('failed');
  await new Promise<void>((resolve) => dying.close(resolve));
  // Nobody listens at its address.
  expect(await tell(store, mail)).toBe('failed');
  const back = await begin(port, false);
  onTestFinished(() => back.close());
  expect(await tell(store, mail)).toBe('done');
  expect(await tell(store, mail)).toBe('done');
  const ids = mails.map((sent) => /^Message-ID: (.*)$/im.exec(sent)?.[1]?.trim());
  expect(ids).toHaveLength(4);
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
});

test('where one of two recipients is refused, the other is told once', async () => {
  const store = await due();
  let mails = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    onRcptTo: ({ address }, _session, done) =>
      address === 'gone@acme.example' ? done(Object.assign(new Error('gone'), { responseCode: 550 })) : done(),
    async onData(stream, _session, done) {
      await text(stream);
      mails += 1;
      done();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close());
  const file = join(await scratchFolder(), 'smtp.url');
  await writeFile(file, `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}\n`);
  const mail = { form: 'mail' as const, url: `file:${file}`, from: 'hirebridge@example.org' };
  expect(await tell(store, { ...mail, to: ['gone@acme.example'] })).toBe('failed');
  for (const _ of [1, 2])
    expect(await tell(store, { ...mail, to: ['gone@acme.example', 'hr@acme.example'] })).toBe('done');
  expect(mails).toBe(3);
});

test('a mail server that says nothing is left as soon as the worker stops', unlessStalled, async () => {
  const store = await due();
  const silent = listenInSilence(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const file = join(await scratchFolder(), 'smtp.url');
  await writeFile(file, `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}\n`);
  const begun = performance.now();
  const mail = { form: 'mail' as const, url: `file:${file}`, from: 'a@example.org', to: ['hr@acme.example'] };
  expect(await tell(store, mail, AbortSignal.timeout(300))).toBe('failed');
  expect(performance.now() - begun).toBeLessThan(5_000);
});
