import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRootLogger } from '../../src/log.ts';
import { noteTrouble } from '../../src/store/alarms.ts';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import {
  listEvents,
  markEventTaken,
  oldestUntaken,
  purgeEvents,
  replayEvents,
  tenantsWithEvents,
} from '../../src/store/events-out.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires } from '../../src/store/hires.ts';
import { closeHoldsOf, openHold } from '../../src/store/holds.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { createEventSender } from '../../src/worker/outgoing.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { freshStore, freshStoreUrl, kinds } from '../store/stores.ts';
import { EVENT_SECRET, listenForEvents } from './event-receiver.ts';

const { signal } = new AbortController();
const TOLD = ['hire.held', 'hire.completed', 'hire.left'];

async function apply(store: Store, tenantId: string, events: boolean): Promise<void> {
  const receives = { webhooks: 'off' as const, webhookKeys: [], ...(events && { events: true as const }) };
  await applyDefinitions(store, [{ tenantId, file: 'a', files: {}, receives, over: null, changes: [] }], 'ada');
}

/** A hire that is held, done, and whose person leaves, by the store's own functions. */
async function liveThrough(store: Store, tenantId: string, jobCandidateId: string): Promise<void> {
  const key = { tenantId, jobCandidateId, period: 1 };
  await insertHires(store, [{ ...key, state: 'open' }]);
  await openHold(store, { ...key, code: 'NO_SHOW', message: 'A test.', answers: ['retry'] });
  await closeHoldsOf(store, key);
  await endHire(store, key, 'done');
  await endHire(store, key, 'left', ['done']);
}

async function secretFile(): Promise<string> {
  const file = join(await scratchFolder(), 'events.secret');
  await writeFile(file, `${EVENT_SECRET}\n`);
  return file;
}

async function senderOf(store: Store, url: string) {
  const send = createEventSender({ store, log: createRootLogger(undefined, 'silent') });
  const events = { url, secret: `file:${await secretFile()}` };
  const tenant = { tenant: 'acme', partner: { allowPrivateAddress: true }, events } as unknown as Tenant;
  return (stop: AbortSignal = signal) => send(tenant, stop);
}

describe.each(kinds)('events on %s', (kind) => {
  test('whoever has no address for them costs no row, and each change of the others is one event', async () => {
    const { store } = await freshStore(kind);
    await apply(store, 'acme', true);
    await apply(store, 'quiet', false);
    for (const tenantId of ['acme', 'quiet']) {
      await liveThrough(store, tenantId, '7');
      const trouble = { tenantId, kind: 'activity-failing', subject: 'verify of job candidate 7' } as const;
      for (const _ of [1, 2]) await noteTrouble(store, { ...trouble, reason: 'X', message: 'A test.' }, 0);
    }
    const rows = (await listEvents(store, { tenantId: 'acme' }, { waiting: true })).toReversed();
    expect(rows.map(({ type }) => type)).toEqual([...TOLD, 'alarm.raised']);
    expect(await listEvents(store, { tenantId: 'quiet' }, { waiting: false })).toEqual([]);
    expect(await tenantsWithEvents(store)).toEqual(new Set(['acme']));
    const [first, second] = rows;
    expect(await oldestUntaken(store)).toEqual(new Map([['acme', { at: Number(first?.at), error: null }]]));
    await markEventTaken(store, first?.event_id ?? '');
    expect((await oldestUntaken(store)).get('acme')?.at).toBe(Number(second?.at));
  });

  test('a receiver that fails, hangs and restarts gets each event, in order for each hire', async () => {
    const { store } = await freshStore(kind);
    await apply(store, 'acme', true);
    const trouble: ('cut' | 'hang' | 503 | 410)[] = ['cut', 503, 410, 'hang'];
    const receiver = await listenForEvents(() => trouble.shift() ?? 200);
    const send = await senderOf(store, receiver.url);
    for (const id of ['1', '2', '3']) await liveThrough(store, 'acme', id);
    for (const _ of [1, 2, 3]) expect(await send()).toBe('failed');
    const stop = new AbortController();
    const hanging = send(stop.signal);
    await expect.poll(() => receiver.calls.length).toBe(4);
    stop.abort();
    expect(await hanging).toBe('failed');
    await receiver.stop();
    expect(await send()).toBe('failed');
    await receiver.start();
    expect(await send()).toBe('done');
    for (const id of ['1', '2', '3'])
      expect(receiver.taken.filter((one) => one.jobCandidateId === id).map(({ type }) => type)).toEqual(TOLD);
    expect(new Set(receiver.taken.map(({ id }) => id)).size).toBe(9);
    expect(new Set(receiver.calls.slice(0, 5).map(({ id }) => id)).size).toBe(1);
    expect(await tenantsWithEvents(store)).toEqual(new Set());
  });

  test('an event that its receiver finds fault with holds up its own hire, and no other', async () => {
    const { store } = await freshStore(kind);
    await apply(store, 'acme', true);
    const receiver = await listenForEvents(({ jobCandidateId }) => (jobCandidateId === '1' ? 400 : 200));
    const send = await senderOf(store, receiver.url);
    for (const id of ['1', '2']) await liveThrough(store, 'acme', id);
    for (const _ of [1, 2]) expect(await send()).toBe('done');
    expect(receiver.taken.map(({ jobCandidateId }) => jobCandidateId)).toEqual(['2', '2', '2']);
    expect(receiver.calls.filter(({ jobCandidateId }) => jobCandidateId === '1')).toHaveLength(1);
    const [waiting] = (await listEvents(store, { tenantId: 'acme' }, { waiting: true })).toReversed();
    expect(waiting).toMatchObject({ tries: 1, last_error: 'answered 400' });
  });

  test('an alarm that its receiver finds fault with holds up no other alarm', async () => {
    const { store } = await freshStore(kind);
    await apply(store, 'acme', true);
    const answers: (400 | 200)[] = [400];
    const receiver = await listenForEvents(() => answers.shift() ?? 200);
    const send = await senderOf(store, receiver.url);
    const trouble = { tenantId: 'acme', kind: 'activity-failing', reason: 'X', message: 'A test.' } as const;
    for (const subject of ['one', 'other'])
      for (const _ of [1, 2]) await noteTrouble(store, { ...trouble, subject }, 0);
    expect(await send()).toBe('done');
    expect(receiver.taken.map(({ type }) => type)).toEqual(['alarm.raised']);
  });

  test('once a tenant is removed or names nobody to tell, nothing is written, and what waits ends', async () => {
    const { store } = await freshStore(kind);
    for (const tenantId of ['acme', 'dropped', 'gone']) {
      await apply(store, tenantId, true);
      await liveThrough(store, tenantId, '7');
    }
    const none = JSON.stringify({ webhooks: 'off', webhookKeys: [] });
    await store.kysely.updateTable('tenants').set({ receives: none }).where('tenant_id', '=', 'dropped').execute();
    await removeTenant(store, { tenantId: 'gone', by: 'ada' });
    for (const tenantId of ['acme', 'dropped', 'gone']) await liveThrough(store, tenantId, '8');
    const kept = async () =>
      (await store.kysely.selectFrom('events_out').select('tenant_id').orderBy('event_no').execute()).map(
        (row) => row.tenant_id,
      );
    expect((await kept()).filter((tenantId) => tenantId !== 'acme')).toEqual([
      ...Array(3).fill('dropped'),
      ...Array(3).fill('gone'),
    ]);
    await purgeEvents(store, 60_000);
    expect(await kept()).toEqual(Array(6).fill('acme'));
    await store.kysely.updateTable('events_out').set({ taken_at: 1 }).execute();
    await purgeEvents(store, 60_000);
    expect(await kept()).toEqual([]);
  });

  test('what is replayed comes again under the ids it had, in its order, and is audited', async () => {
    const { store } = await freshStore(kind);
    await apply(store, 'acme', true);
    const receiver = await listenForEvents();
    const send = await senderOf(store, receiver.url);
    for (const id of ['1', '2']) await liveThrough(store, 'acme', id);
    await send();
    const before = receiver.taken.splice(0).filter(({ jobCandidateId }) => jobCandidateId === '2');
    expect(await replayEvents(store, { tenantId: 'acme', jobCandidateId: '2' }, 'ada')).toBe(3);
    expect(await send()).toBe('done');
    expect(receiver.taken).toEqual(before);
    const audited = await store.kysely.selectFrom('audit').selectAll().where('act', '=', 'events-replayed').execute();
    expect(audited).toMatchObject([{ by: 'ada', tenant_id: 'acme' }]);
  });
});

test('killed at each point of a round, a process loses no event, and what comes twice has one id', async () => {
  const storeUrl = await freshStoreUrl('sqlite');
  const store = await openStore(storeUrl);
  onTestFinished(() => store.close());
  await apply(store, 'acme', true);
  const receiver = await listenForEvents();
  const folder = await scratchFolder();
  const listFile = join(folder, 'points');
  const secret = await secretFile();
  const round = async (env: NodeJS.ProcessEnv): Promise<NodeJS.Signals | null> => {
    const script = fileURLToPath(new URL('send-events-process.ts', import.meta.url));
    const child = spawn(process.execPath, [script, storeUrl, receiver.url, secret], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const [, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    await store.kysely.updateTable('leases').set({ leased_until: 1 }).execute();
    return killedBy;
  };
  await liveThrough(store, 'acme', 'first');
  await round({ LIST_FILE: listFile });
  const points = [...new Set((await readFile(listFile, 'utf8')).trim().split('\n'))];
  expect(points).toEqual(expect.arrayContaining(['send-events/events.post/before', 'send-events/events.post/after']));
  for (const [at, point] of points.entries()) {
    await liveThrough(store, 'acme', `killed-${at}`);
    expect(await round({ KILL_AT: point }), point).toBe('SIGKILL');
  }
  await round({});
  for (const id of ['first', ...points.keys()].map((one) => (one === 'first' ? one : `killed-${one}`))) {
    const heard = receiver.taken.filter(({ jobCandidateId }) => jobCandidateId === id);
    const first = heard.filter((one, at) => heard.findIndex((other) => other.id === one.id) === at);
    expect(
      first.map(({ type }) => type),
      id,
    ).toEqual(TOLD);
  }
});
