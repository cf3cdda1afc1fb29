import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { hrisCases } from '../../src/hris-kit/suite.ts';
import { ACME, type AcmeServer, acmePayloads, signAcme, startAcmeServer } from './acme-server.ts';
import { describeHris } from './conformance.ts';
import { definedUnderTest } from './defined-under-test.ts';
import { employee, type HrisProfile, refusal, signal, write } from './profile.ts';

const file = fileURLToPath(new URL('definitions/acme.yaml', import.meta.url));
const text = await readFile(file, 'utf8');

const profile: HrisProfile = {
  employee: (tag, changes = {}) => ({
    ...employee(tag),
    remote: false,
    contract: 'permanent',
    hours: 38.5,
    department: 'Kitchen',
    ...changes,
  }),
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { startDate: null },
  number: /^7\d{4}$/,
  refuses: [],
  foldsEveryLetter: true,
  findsPersons: true,
};

const { definition } = loadDefinition(file, text);

function openAcme(url: string): Promise<HrisConnection> {
  return openHris('http', 'acme', { url, definition: { file, text }, allowPrivateAddress: true, ...ACME });
}

let server: AcmeServer;
beforeAll(async () => {
  server = await startAcmeServer();
});
afterAll(() => server?.close());

const underTest = () =>
  definedUnderTest({
    profile,
    server,
    calls: { base: '/api', create: '/staff', amendment: 'PUT' },
    open: openAcme,
    count: () => server.staff.size,
    powers: {
      people: { add: async (count) => server.add(count), touch: async (ids) => server.touch(ids), many: 60 },
      job: {
        finish: async (ticket) => server.finish(ticket),
        refuse: async (ticket) => server.refuse(ticket),
      },
      stored: async (id, name) =>
        (server.files.get(id) ?? []).filter((one) => one.name === name).map(({ bytes }) => bytes),
      custom: { key: 'shoe', label: 'Shoe size', value: '44½' },
      ...(definition?.webhooks && {
        webhooks: { sign: signAcme, payloads: acmePayloads, signing: definition.webhooks },
      }),
      staleUpdate: async (id) => {
        const other = await openAcme(server.url);
        const beforeSend = () => server.edit(id, () => undefined);
        await other.employees.update(id, { title: 'Late' }, { ...write, beforeSend }).finally(() => other.close());
      },
    },
    lacks: {
      wide: 'the fields are those of the definition',
      uniqueReference: 'this system takes a reference twice: the claim in our store keeps a second create away',
    },
  });

describeHris('http', underTest);

test.for([
  [
    'than "readLag" says fails the suite',
    0,
    /is not found \d+\.\d s later, and "readLag" is 0 s: .* Set a longer readLag/,
  ],
  ['but within "readLag" passes', 60_000, undefined],
] as const)('who is found later %s', async ([, readLagMs, says]) => {
  server.staff.clear();
  const hris = await underTest();
  const { adapter, second } = hris;
  // Two looks miss who was made; the clock goes on by three seconds between them, however fast this machine is.
  const clock = performance.now.bind(performance);
  let looks = 0;
  const find: typeof second.employees.find = async (...asked) => {
    looks += 1;
    if (looks > 2) return second.employees.find(...asked);
    vi.spyOn(performance, 'now').mockImplementation(() => clock() + 3_000);
    return { kind: 'none', trusted: true };
  };
  const late = {
    ...hris,
    adapter: { ...adapter, capabilities: { ...adapter.capabilities, readLagMs } },
    second: { ...second, employees: { ...second.employees, find } },
  };
  const outcome = await hrisCases
    .find(({ name }) => name === 'answer lost after create')
    ?.run(late)
    .then(() => undefined, String);
  vi.restoreAllMocks();
  if (says === undefined) expect(outcome).toBeUndefined();
  else expect(outcome).toMatch(says);
  await hris.stop();
});

test('a session that has ended is begun anew, once for all who wait', async () => {
  const adapter = await openAcme(server.url);
  await adapter.probe(signal);
  server.endSessions();
  const before = server.logins;
  const found = await Promise.all(
    Array.from({ length: 6 }, () => adapter.employees.find({ by: 'number', value: '1' }, signal)),
  );
  expect(found).toHaveLength(6);
  expect(server.logins - before).toBeGreaterThan(0);
  expect(server.logins - before).toBeLessThanOrEqual(2);
  await adapter.close();
});

test('an error inside a 200 is a refusal, and a refused field is named without its value', async () => {
  const adapter = await openAcme(server.url);
  const [id = ''] = server.add(1);
  server.next = { method: 'GET', answer: (response) => void response.writeHead(200).end('{"error":"busy"}') };
  expect(await refusal(adapter.employees.read(id, signal))).toMatchObject({
    action: 'retry',
    code: 'HRIS_BUSY',
  });
  const says = '{"field":"first","message":"Reyes is no name"}';
  server.next = { method: 'POST', answer: (response) => void response.writeHead(422).end(says) };
  const refused = await refusal(
    adapter.employees.create(profile.employee('x', { familyName: 'Reyes' }), '27:refused-field', write),
  );
  expect(refused).toMatchObject({
    action: 'reject',
    code: 'INVALID_VALUE',
    details: { givenName: 'was not accepted' },
  });
  expect(refused.message).toContain('is no name');
  expect(refused.message).not.toContain('Reyes');
  await adapter.close();
});
