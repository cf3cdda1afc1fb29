import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { definitionUnderTest } from '../../src/hris-kit/definition-under-test.ts';
import { hrisCells } from '../../src/hris-kit/suite.ts';
import { ENTRA } from './entra-job.ts';
import { type EntraServer, startEntra } from './entra-server.ts';
import { refusal, signal, write } from './profile.ts';

const OWN = 'urn:ietf:params:scim:schemas:extension:hirebridge:1.0:User';
const ANA = {
  givenName: 'Ana',
  familyName: 'Reyes',
  displayName: 'Ana Reyes',
  userName: 'ana.reyes@contoso.example',
  email: 'ana@example.org',
};

async function open(settings: Parameters<typeof startEntra>[0] = {}) {
  const entra = await startEntra(settings);
  onTestFinished(() => entra.close());
  const where = { url: entra.url, login: entra.login, allowPrivateAddress: true };
  const hris = await openHris('entra', 'test-entra', { ...where, ...ENTRA });
  onTestFinished(() => hris.close());
  return { entra, hris };
}

/** Makes Ana, and carries it out at once. */
async function employ(entra: EntraServer, hris: HrisConnection): Promise<string> {
  const made = await hris.employees.create(ANA, '17:1', write);
  if (made.kind !== 'pending') throw new Error('made at once');
  entra.finish('17:1');
  const now = await hris.pending?.resolve(made.ticket, signal);
  if (now?.kind !== 'created') throw new Error('not made');
  return now.ref.id;
}

test('an upload is what the pages ask for, and names nobody but by our reference', async () => {
  const { entra, hris } = await open();
  const id = await employ(entra, hris);
  await hris.employees.update(id, { title: 'Chef', phone: '555-0100' }, write);
  await hris.employees.terminate?.(id, '2026-02-20', write);
  entra.finish('17:1');
  const schemas = [
    'urn:ietf:params:scim:schemas:core:2.0:User',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
    OWN,
  ];
  const name = { givenName: 'Ana', familyName: 'Reyes' };
  const { displayName, userName, email } = ANA;
  expect(entra.accepted.map(({ data }) => data)).toEqual([
    { schemas, externalId: '17:1', active: true, name, displayName, userName, [OWN]: { email } },
    { schemas, externalId: '17:1', title: 'Chef', [OWN]: { mobilePhone: '555-0100' } },
    { schemas, externalId: '17:1', active: false },
  ]);
  expect(await hris.employees.read(id, signal)).toMatchObject({ former: true, fields: { title: 'Chef' } });
});

test('a user whom hirebridge did not make is left alone: an upload for them would make a second one', async () => {
  const { entra, hris } = await open();
  const [id = ''] = entra.add(1);
  for (const change of [
    hris.employees.update(id, { title: 'Chef' }, write),
    hris.employees.terminate?.(id, '2026-02-20', write),
    hris.employees.rehire?.(id, { title: 'Chef' }, write),
  ])
    expect(await refusal(change ?? Promise.resolve())).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'reject',
      message: expect.stringContaining('by our reference, and Microsoft Entra ID shows none for this one'),
    });
  expect([entra.accepted.length, entra.users.size]).toEqual([0, 1]);
});

test('everybody is read over pages before somebody counts as not there', async () => {
  const { entra, hris } = await open();
  const [first = ''] = entra.add(250);
  const last = [...entra.users.keys()].at(-1) ?? '';
  for (const id of [first, last]) {
    entra.users.set(id, { ...entra.users.get(id), id, otherMails: ['a@example.org', `${id}@Example.org`] });
    const found = await hris.employees.find({ by: 'email', value: `${id}@example.org` }, signal);
    expect(found).toMatchObject({ kind: 'one', ref: { id } });
  }
  expect(await hris.employees.find({ by: 'email', value: 'nobody@example.org' }, signal)).toEqual({
    kind: 'none',
    trusted: true,
  });
});

test('the 41st upload in five seconds waits as it is told, and the sixth look into the log in ten', async () => {
  const { entra, hris } = await open({ stepMs: 0, keeps: () => true });
  const create = (at: number) =>
    hris.employees.create({ ...ANA, userName: `ana${at}@contoso.example` }, `17:${at}`, write);
  const [first] = await Promise.all(Array.from({ length: 40 }, (_, at) => create(at)));
  expect(entra.accepted).toHaveLength(40);
  const throttled = { code: 'RATE_LIMITED', action: 'throttle' };
  await expect(create(40)).rejects.toMatchObject({ ...throttled, retryAfterMs: 5_000 });
  entra.pass(5_000);
  expect(await create(40)).toMatchObject({ kind: 'pending' });
  expect(entra.accepted).toHaveLength(41);

  const ticket = first?.kind === 'pending' ? first.ticket : '';
  const look = async () => hris.pending?.resolve(ticket, signal);
  for (let looks = 0; looks < 5; looks += 1) expect(await look()).toMatchObject({ kind: 'pending', ticket });
  await expect(look()).rejects.toMatchObject({ ...throttled, retryAfterMs: 10_000 });
  entra.pass(10_000);
  expect(await look()).toMatchObject({ kind: 'pending' });
});

test('a job that takes no more is given time, and nobody is looked for', async () => {
  const { entra, hris } = await open();
  entra.isFull = true;
  const full = { code: 'RATE_LIMITED', action: 'throttle', retryAfterMs: 300_000 };
  await expect(hris.employees.create(ANA, '17:1', write)).rejects.toMatchObject(full);
});

test('who has a number from elsewhere is found by it', async () => {
  const { entra, hris } = await open();
  const [, id = ''] = entra.add(2);
  entra.users.set(id, { ...entra.users.get(id), id, employeeId: '701984' });
  const ref = { id, number: '701984' };
  expect(await hris.employees.find({ by: 'number', value: '701984' }, signal)).toMatchObject({ kind: 'one', ref });
  expect(await hris.employees.find({ by: 'number', value: '701985' }, signal)).toMatchObject({ kind: 'none' });
});

test('`hris test` runs the suite on it, with user names of the directory', async () => {
  const entra = await startEntra();
  onTestFinished(() => entra.close());
  const file = fileURLToPath(new URL('../../src/hris/kinds/entra.yaml', import.meta.url));
  const text = (await readFile(file, 'utf8')).replace('every: 2m', 'every: 20ms');
  const { definition, problems } = loadDefinition(file, text);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  const options = { url: entra.url, login: entra.login, ...ENTRA, allowPrivateAddress: true, readLag: 0 };
  const values = { userName: '{tag}@contoso.example' };
  const hris = definitionUnderTest({ definition, options, values, noNumbers: true });
  onTestFinished(() => hris.stop());
  const failed: string[] = [];
  for (const { name, impossible, run } of hrisCells(hris)) {
    hris.begin();
    if (impossible === undefined) await run().catch((error: unknown) => failed.push(`${name}: ${String(error)}`));
  }
  expect(failed).toEqual([]);
  // A job disables users, and deletes none.
  expect(await hris.clear()).toMatchObject({ removed: 0, left: [] });
  await expect.poll(() => [...entra.users.values()].filter((one) => one['accountEnabled'])).toEqual([]);
}, 60_000);

/** Sends to the double itself, as no definition would. */
async function upload(entra: EntraServer, body: unknown, type = 'application/scim+json'): Promise<Response> {
  const form = { grant_type: 'client_credentials', scope: 'https://graph.microsoft.com/.default' };
  const own = { client_id: ENTRA.clientId, client_secret: ENTRA.clientSecret };
  const asked = await fetch(`${entra.login}/${ENTRA.directory}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, ...own }),
  });
  const { access_token: token } = (await asked.json()) as { access_token: string };
  const { servicePrincipal, job } = ENTRA;
  return fetch(`${entra.url}/servicePrincipals/${servicePrincipal}/synchronization/jobs/${job}/bulkUpload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body: JSON.stringify(body),
  });
}

test('the double takes 50 operations, and refuses more, larger requests and other forms', async () => {
  const { entra } = await open({ keeps: () => true });
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'];
  const kinds = [
    'urn:ietf:params:scim:schemas:core:2.0:User',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  ];
  const operation = (at: number, more = {}) => ({
    method: 'POST',
    path: '/Users',
    bulkId: String(at),
    data: { schemas: kinds, externalId: String(at), ...more },
  });
  const many = (count: number) => ({ schemas, Operations: Array.from({ length: count }, (_, at) => operation(at)) });
  const taken = await upload(entra, many(50));
  expect([taken.status, await taken.text()]).toEqual([202, '']);
  expect(taken.headers.get('location')).toContain(`/auditLogs/provisioning/?$filter=jobid%20eq%20'${ENTRA.job}'`);
  for (const [body, status, type] of [
    [many(51), 400],
    [many(0), 400],
    [{ schemas, Operations: [operation(1, { title: 'x'.repeat(41_000) })] }, 413],
    [{ schemas, Operations: [operation(1, { externalId: '' })] }, 400],
    [{ schemas, Operations: [{ ...operation(1), method: 'PATCH' }] }, 400],
    [many(1), 400, 'application/json'],
  ] as const)
    expect((await upload(entra, body, type)).status).toBe(status);
  expect(entra.accepted).toHaveLength(50);
});
