import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { FACTORIAL_KEY, startFactorialServer } from './factorial-server.ts';
import { startKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

/** An employment below a person, as of Personio: made with the person, then changed by its own id. */
const PERSONS = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: ref, former: status = "INACTIVE" }
fields:
  familyName: { at: last_name, required: true }
  title: { at: employment.position.title }
  startDate: { at: employment.start_date, type: date }
below:
  employment:
    find: { get: "/persons/{id}/employments", items: '_data[status="ACTIVE"]', id: id }
    update: { patch: "/persons/{id}/employments/{below.employment}" }
    create: { post: "/persons/{id}/employments", set: { status: ACTIVE } }
find: { reference: { get: /persons, query: { ref: "{value}" }, items: _data, trusted: true } }
read: { get: "/persons/{id}" }
create: { post: /persons, set: { job.title: "{fields.title}", job.start_date: "{fields.startDate}" } }
update: { patch: "/persons/{id}" }
terminate: { set: { employment.status: INACTIVE, employment.end_date: "{lastDay}" } }
rehire: { set: { employment.end_date: null } }
probe: { get: /me }
`;

type Employment = Record<string, unknown> & { id: number; status: string };
type Person = Record<string, unknown> & { id: string; employments: Employment[] };

async function startPersons() {
  const persons = new Map<string, Person>();
  const asked: string[] = [];
  let nextId = 100;
  const url = await startKestrel(async (request, say) => {
    const sent = await text(request);
    const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://kestrel');
    const [, , id, , below] = pathname.split('/');
    if (request.method !== 'GET') asked.push(`${request.method} ${pathname}`);
    const person = persons.get(id ?? '');
    const shown = ({ employments, ...one }: Person) => ({
      ...one,
      status: employments.some(({ status }) => status === 'ACTIVE') ? 'ACTIVE' : 'INACTIVE',
    });
    if (pathname === '/me') return say(200, {});
    if (id === undefined && request.method === 'GET')
      return say(200, { _data: [...persons.values()].filter(({ ref }) => ref === searchParams.get('ref')).map(shown) });
    nextId += 1;
    if (id === undefined) {
      const { job, ...own } = body as { job: { title: string; start_date: string } };
      const employment = { id: nextId, status: 'ACTIVE', position: { title: job.title }, start_date: job.start_date };
      persons.set(String(nextId), { ...own, id: String(nextId), employments: [employment] });
      return say(201, { id: String(nextId) });
    }
    if (person === undefined) return say(404, {});
    if (!pathname.includes('employments')) return say(200, shown(Object.assign(person, body)));
    if (request.method === 'GET') return say(200, { _data: person.employments });
    const known = person.employments.find((one) => String(one.id) === below);
    if (known === undefined) person.employments.push({ ...body, id: nextId } as Employment);
    else Object.assign(known, body);
    return say(200, {});
  });
  return { url, persons, asked };
}

async function openPersons(url: string, definition = PERSONS): Promise<HrisConnection> {
  const options = {
    url,
    definition: { file: '/kestrel.yaml', text: definition },
    allowPrivateAddress: true,
    token: 'x',
  };
  const hris = await openHris('http', 'kestrel', options, {});
  onTestFinished(() => hris.close());
  return hris;
}

async function employed(hris: HrisConnection, tag: string): Promise<string> {
  const fields = { familyName: 'Reyes', title: 'Cook', startDate: '2026-02-01' };
  const made = await hris.employees.create(fields, `27:${tag}`, write);
  return made.kind === 'created' ? made.ref.id : '';
}

test('the definition of employments below a person is one', () => {
  expect(loadDefinition('kestrel.yaml', PERSONS).problems).toEqual([]);
});

test('a transfer, an end and a rehire are written to the employment that counts', async () => {
  const { url, persons, asked } = await startPersons();
  const hris = await openPersons(url);
  const id = await employed(hris, 'moved');
  expect(asked).toEqual(['POST /persons']);
  const [first] = persons.get(id)?.employments ?? [];
  expect(await hris.employees.read(id, signal)).toMatchObject({ fields: { title: 'Cook', startDate: '2026-02-01' } });
  for (const _twice of [1, 2]) await hris.employees.update(id, { title: 'Chef' }, write);
  expect(asked.slice(1)).toEqual([`PATCH /persons/${id}/employments/${first?.id}`]);
  for (const _twice of [1, 2]) await hris.employees.terminate?.(id, '2026-03-31', write);
  expect(persons.get(id)?.employments).toMatchObject([{ status: 'INACTIVE', end_date: '2026-03-31' }]);
  expect(await hris.employees.read(id, signal)).toMatchObject({ former: true });
  const fields = { familyName: 'Okafor', title: 'Baker', startDate: '2026-06-01' };
  for (const _twice of [1, 2]) await hris.employees.rehire?.(id, fields, write);
  expect(await hris.employees.read(id, signal)).toMatchObject({ fields });
  expect(persons.get(id)?.employments).toMatchObject([
    { status: 'INACTIVE', position: { title: 'Chef' }, end_date: '2026-03-31' },
    { status: 'ACTIVE', position: { title: 'Baker' }, start_date: '2026-06-01' },
  ]);
});

test.each(['answer-lost', 'reset-before'] as const)(
  'a rehire whose POST has its %s is one employment',
  async (kind) => {
    const { url, persons } = await startPersons();
    const proxy = await startHttpProxy(url);
    onTestFinished(() => proxy.close());
    const hris = await openPersons(proxy.url);
    const id = await employed(hris, kind);
    await hris.employees.terminate?.(id, '2026-03-31', write);
    const fields = { familyName: 'Reyes', title: 'Baker', startDate: '2026-06-01' };
    const rehire = () => hris.employees.rehire?.(id, fields, write) ?? Promise.resolve();
    const struck = proxy.strike({ kind, on: ({ method, path }) => method === 'POST' && path.endsWith('/employments') });
    expect(await refusal(rehire())).toMatchObject({ action: 'unknown' });
    await struck;
    await rehire();
    expect(persons.get(id)?.employments).toHaveLength(2);
  },
);

test.each([
  [
    'several are active',
    [{ status: 'ACTIVE' }, { status: 'ACTIVE' }],
    /several parts.*"below\.employment\.find\.items"/,
  ],
  ['none is active', [{ status: 'INACTIVE' }], /without a record that counts.*"below\.employment\.find\.items"/],
] as const)('nothing is written below somebody of whose employments %s', async (_what, employments, says) => {
  const { url, persons, asked } = await startPersons();
  const hris = await openPersons(url);
  const id = await employed(hris, 'unclear');
  asked.length = 0;
  Object.assign(persons.get(id) as Person, { employments: employments.map((one, at) => ({ ...one, id: at })) });
  expect(await hris.employees.read(id, signal)).toMatchObject({ fields: { familyName: 'Reyes' } });
  expect((await hris.employees.read(id, signal))?.fields['title']).toBeUndefined();
  const refused = { code: 'HRIS_UNREADABLE_ANSWER', action: 'reject', message: expect.stringMatching(says) };
  expect(await refusal(hris.employees.update(id, { title: 'Chef' }, write))).toMatchObject(refused);
  const amendment = { fields: { title: 'Chef' }, over: { title: 'Cook' }, from: '2026-06-01' };
  if (employments.length > 1) {
    expect(await refusal(hris.employees.amend?.(id, amendment, write) ?? Promise.resolve())).toMatchObject(refused);
    expect(await refusal(hris.employees.terminate?.(id, '2026-06-01', write) ?? Promise.resolve())).toMatchObject(
      refused,
    );
  } else await hris.employees.terminate?.(id, '2026-06-01', write);
  expect(asked).toEqual([]);
});

const FACTORIAL = await readFile(new URL('definitions/factorial.yaml', import.meta.url), 'utf8');

async function startFactorial(text = FACTORIAL) {
  const server = await startFactorialServer();
  onTestFinished(() => server.close());
  const proxy = await startHttpProxy(server.url);
  onTestFinished(() => proxy.close());
  const definition = { file: '/factorial.yaml', text };
  const options = { url: proxy.url, definition, allowPrivateAddress: true, key: FACTORIAL_KEY };
  const hris = await openHris('http', 'factorial', options, { today: () => '2026-05-01' });
  onTestFinished(() => hris.close());
  return { ...server, proxy, hris };
}

const NEWCOMER = {
  givenName: 'Ana',
  familyName: 'Reyes',
  email: 'ana@example.org',
  birthDate: '1990-05-17',
  title: 'Cook',
  hours: 38.5,
  startDate: '2026-02-01',
};

const KINDS = ['answer-lost', 'reset-before', 'executed-late'] as const;
const CONTRACT = { method: 'POST', path: '/resources/contracts/contract-versions' };
const EMPLOYEE = { method: 'POST', path: '/resources/employees/employees' };

test.for(KINDS.flatMap((kind) => [EMPLOYEE, CONTRACT].map((of) => [kind, of.path, of] as const)))(
  'a newcomer whose contract is made after them is whole, though %s strikes POST %s',
  async ([kind, , of]) => {
    const { hris, proxy, employees, contractsOf } = await startFactorial();
    expect(hris.capabilities.createsInParts).toBe(true);
    const struck = proxy.strike({ kind, on: ({ method, path }) => method === of.method && path === of.path });
    expect(await refusal(hris.employees.create(NEWCOMER, '27:1', write))).toMatchObject({ action: 'unknown' });
    await struck;
    // As the activity does: it looks, and an update makes whole who is there.
    const found = await hris.employees.find({ by: 'reference', value: '27:1' }, signal);
    if (found.kind === 'one') for (const _twice of [1, 2]) await hris.employees.update(found.ref.id, NEWCOMER, write);
    else await hris.employees.create(NEWCOMER, '27:1', write);
    const [id = ''] = [...employees.keys()].map(String);
    expect(employees.size).toBe(1);
    expect(contractsOf(id)).toMatchObject([{ effective_on: '2026-02-01', job_title: 'Cook', working_hours: 38.5 }]);
    expect(await hris.employees.read(id, signal)).toMatchObject({ fields: NEWCOMER, reference: '27:1' });
    expect(await refusal(hris.employees.create(NEWCOMER, '27:1', write))).toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(contractsOf(id)).toHaveLength(1);
  },
);

test('a create that finds its employee makes them whole before it says so', async () => {
  const { hris, proxy, contractsOf } = await startFactorial();
  void proxy.strike({ kind: 'reset-before', on: ({ method, path }) => method === 'POST' && path === CONTRACT.path });
  expect(await refusal(hris.employees.create(NEWCOMER, '27:1', write))).toMatchObject({ action: 'unknown' });
  const again = await refusal(hris.employees.create(NEWCOMER, '27:1', write));
  expect(again).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore' });
  expect(contractsOf(again.details?.['id'])).toHaveLength(1);
});

test.for(KINDS)('a change that counts from a day is one more record, though %s strikes it', async (kind) => {
  const { hris, proxy, contractsOf } = await startFactorial();
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  const amend = (fields: object, over: object, from: string) =>
    hris.employees.amend?.(id, { fields: { ...fields }, over: { ...over }, from }, write) ?? Promise.resolve();
  const struck = proxy.strike({ kind, on: ({ method, path }) => method === 'POST' && path === CONTRACT.path });
  expect(await refusal(amend({ title: 'Chef' }, { title: 'Cook' }, '2026-05-01'))).toMatchObject({ action: 'unknown' });
  await struck;
  for (const _twice of [1, 2]) await amend({ title: 'Chef' }, { title: 'Cook' }, '2026-05-01');
  expect(contractsOf(id)).toMatchObject([
    { effective_on: '2026-02-01', job_title: 'Cook' },
    // What was not changed is carried on.
    { effective_on: '2026-05-01', job_title: 'Chef', working_hours: 38.5, starts_on: '2026-02-01' },
  ]);
  // A second change of that day changes its record.
  await amend({ hours: 20 }, { hours: 38.5 }, '2026-05-01');
  expect(contractsOf(id).map((one) => one['working_hours'])).toEqual([38.5, 20]);
  expect(await hris.employees.read(id, signal)).toMatchObject({ fields: { ...NEWCOMER, title: 'Chef', hours: 20 } });
});

test.for(KINDS)('who left is back with one more record, though %s strikes it', async (kind) => {
  const { hris, proxy, employees, contractsOf } = await startFactorial();
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  for (const _twice of [1, 2]) await hris.employees.terminate?.(id, '2026-03-31', write);
  expect(employees.get(Number(id))).toMatchObject({ active: false, terminated_on: '2026-03-31' });
  const back = { ...NEWCOMER, familyName: 'Okafor', title: 'Baker', startDate: '2026-05-01' };
  const rehire = () => hris.employees.rehire?.(id, back, write) ?? Promise.resolve();
  const struck = proxy.strike({ kind, on: ({ method, path }) => method === 'POST' && path === CONTRACT.path });
  expect(await refusal(rehire())).toMatchObject({ action: 'unknown' });
  await struck;
  // Nothing shows them as active before the record is there: the rehire is repeated.
  expect(await hris.employees.read(id, signal)).toMatchObject({ former: true });
  for (const _twice of [1, 2]) await rehire();
  expect(await hris.employees.read(id, signal)).toMatchObject({ former: false, fields: back });
  expect(contractsOf(id).map((one) => one['job_title'])).toEqual(['Cook', 'Baker']);
});

test('a start is not moved beside a contract that is still to begin', async () => {
  const { hris, contractsOf } = await startFactorial();
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  await hris.employees.terminate?.(id, '2026-03-31', write);
  const back = { ...NEWCOMER, title: 'Baker', startDate: '2026-06-01' };
  for (const _twice of [1, 2]) await hris.employees.rehire?.(id, back, write);
  await hris.employees.update(id, back, write);
  for (const startDate of ['2026-05-20', '2026-06-15'])
    expect(await refusal(hris.employees.update(id, { startDate }, write))).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'reject',
      message: expect.stringMatching(/with a record that is still to begin/),
    });
  expect(contractsOf(id).map((one) => one['effective_on'])).toEqual(['2026-02-01', '2026-06-01']);
});

const DAYS = FACTORIAL.replace('at: contract.starts_on', 'at: contract.effective_on');

test.each([
  ['a later start moves', { startDate: '2026-06-15' }, '2026-06-15', '2026-06-15'],
  ['an earlier start moves', { startDate: '2026-05-10' }, '2026-05-10', '2026-05-10'],
  ['a change from today is a change of', { title: 'Chef' }, '2026-05-01', '2026-06-01'],
])('%s the contract of somebody who begins later, and makes no other', async (_what, fields, from, day) => {
  for (const definition of [FACTORIAL, DAYS]) {
    const { hris, contractsOf } = await startFactorial(definition);
    const made = await hris.employees.create({ ...NEWCOMER, startDate: '2026-06-01' }, '27:1', write);
    const id = made.kind === 'created' ? made.ref.id : '';
    const over = { title: 'Cook', startDate: '2026-06-01' };
    for (const _twice of [1, 2]) await hris.employees.amend?.(id, { fields, over, from }, write);
    expect(contractsOf(id)).toMatchObject([{ effective_on: day, working_hours: 38.5 }]);
    const expected = { ...NEWCOMER, startDate: '2026-06-01', ...fields };
    expect(await hris.employees.read(id, signal)).toMatchObject({ fields: expected });
  }
});

test('a record below that somebody deletes meanwhile is no employee who is gone: it is read again', async () => {
  const { hris, proxy, contractsOf } = await startFactorial();
  const made = await hris.employees.create({ ...NEWCOMER, startDate: '2026-05-01' }, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  const on = ({ method, path }: { method: string; path: string }) => method === 'PUT' && path.includes('contract');
  void proxy.strike({ kind: 'answer', on, answer: { status: 404 } });
  const update = () => hris.employees.update(id, { title: 'Chef' }, write);
  expect(await refusal(update())).toMatchObject({ code: 'STALE', action: 'retry' });
  await update();
  expect(contractsOf(id)).toMatchObject([{ job_title: 'Chef' }]);
});

const SEAT = `  seat:
    find: { get: /resources/seats/seats, query: { of: "{id}", "employee_ids[]": "0" }, items: data, id: id }
    update: { put: "/resources/seats/seats/{below.seat}" }
find:
`;

test('of two kinds of records below none is written if one of them is refused', async () => {
  const seated = FACTORIAL.replace(/^find:\n/m, SEAT).replace('fields:\n', 'fields:\n  desk: { at: seat.desk }\n');
  const { hris, contractsOf } = await startFactorial(seated);
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  const refused = await refusal(hris.employees.update(id, { title: 'Chef', desk: 'B1' }, write));
  expect(refused).toMatchObject({ message: expect.stringMatching(/seats.*so nothing was written/) });
  expect(contractsOf(id)).toMatchObject([{ job_title: 'Cook' }]);
});

/** An end is a row of the dated table, as in BambooHR. */
const ROWS = FACTORIAL.replace(/terminate:\n.*\n.*\n/, 'terminate: { set: { contract.status: Terminated } }\n');

test('an end is one more row from its last day, and none where others begin after it', async () => {
  const { hris, contractsOf } = await startFactorial(ROWS);
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  const end = (lastDay: string) => hris.employees.terminate?.(id, lastDay, write) ?? Promise.resolve();
  const refused = { code: 'HRIS_UNREADABLE_ANSWER', action: 'reject', message: expect.stringMatching(/after the end/) };
  expect(await refusal(end('2026-01-15'))).toMatchObject(refused);
  // A dated row keeps a day that is still to come.
  for (const _twice of [1, 2]) await end('2026-06-30');
  expect(contractsOf(id)).toMatchObject([
    { effective_on: '2026-02-01' },
    { effective_on: '2026-06-30', status: 'Terminated', job_title: 'Cook' },
  ]);
  expect(await refusal(end('2026-05-31'))).toMatchObject(refused);
  expect(contractsOf(id)).toHaveLength(2);
});

test('a second change of one day is refused where the definition changes no record', async () => {
  const { hris, contractsOf } = await startFactorial(FACTORIAL.replace(/ {4}update: \{ put: .*contract.*\n/, ''));
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  await hris.employees.update(id, { title: 'Chef' }, write);
  await hris.employees.update(id, { title: 'Chef' }, write);
  const again = await refusal(hris.employees.update(id, { title: 'Baker' }, write));
  expect(again).toMatchObject({ action: 'reject', message: expect.stringMatching(/"below\.contract\.update"/) });
  expect(contractsOf(id).map((one) => one['job_title'])).toEqual(['Cook', 'Chef']);
});

test.each([
  '2026-02-01T00:00:00Z',
  '2026-02-01T00:00:00.000+00:00',
  '2026-02-01 00:00:00',
  '2026-02-01T00:00:00+02:00',
])('a day of a record below may be written as its midnight, %s', async (day) => {
  const { hris, contractsOf } = await startFactorial();
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  for (const contract of contractsOf(id)) contract['effective_on'] = day;
  await hris.employees.amend?.(id, { fields: { title: 'Chef' }, over: { title: 'Cook' }, from: '2026-02-01' }, write);
  expect(contractsOf(id)).toMatchObject([{ job_title: 'Chef', effective_on: '2026-02-01' }]);
});

// 22:00 in UTC is midnight of the next day in Berlin: read as it stands, a change would count a day early.
test.each([
  '01/02/2026',
  1_769_900_400_000,
  '2026-01-31T22:00:00Z',
  '2026-01-31T22:00:00.000+00:00',
  '2026-01-31 22:00',
])('a day of a record below that is %s is refused', async (day) => {
  const { hris, contractsOf } = await startFactorial();
  const made = await hris.employees.create(NEWCOMER, '27:1', write);
  const id = made.kind === 'created' ? made.ref.id : '';
  for (const contract of contractsOf(id)) contract['effective_on'] = day;
  const refused = { code: 'HRIS_UNREADABLE_ANSWER', message: expect.stringMatching(/"below\.contract\.dated"/) };
  expect(await refusal(hris.employees.update(id, { title: 'Chef' }, write))).toMatchObject(refused);
  expect(contractsOf(id)).toHaveLength(1);
});

/** What is written instead of what. */
type Replaced = readonly [from: string | RegExp, to: string];

const FIND = 'get: "/persons/{id}/employments"';
const UPDATE = '    update: { patch: "/persons/{id}/employments/{below.employment}" }\n';
const CREATE = '    create: { post: "/persons/{id}/employments", set: { status: ACTIVE } }\n';
const BODY = UPDATE.replace(' }', ', body: { of: "{today}" } }');
const OWN = 'update: { set: { employment.kind: x } }';
const TICKET: Replaced = [
  'create: { post: /persons',
  'pending: { get: "/t/{ticket}", done: a, id: b }\nreadLag: 1m\ncreate: { ticket: body.t, post: /persons',
];

const broken: readonly (readonly [string, readonly Replaced[], line: number, column: number, says: RegExp])[] = [
  ['a key that is misspelt', [['    create:', '    craete:']], 14, 5, /Did you mean "create"/],
  ['a list of everybody', [[FIND, 'get: /employments']], 12, 5, /"below\.employment\.find" does not say .* Add \{id\}/],
  ['no list', [[`    find: { ${FIND}`, '    finds: { get: /x']], 12, 5, /Did you mean "find"/],
  ['a change of nobody', [['{below.employment}', '1']], 13, 5, /does not say .* Add \{below\.employment\}/],
  ['another name', [['{below.employment}', '{below.employmnt}']], 13, 22, /Did you mean "below\.employment"/],
  ['a day that is no place', [['    update', '    dated: $max(a)\n    update']], 13, 12, /not a place/],
  ['a day by its whole place', [['    update', '    dated: employment.day\n    update']], 13, 12, /Write "day"/],
  ['nothing that changes', [[UPDATE, '']], 11, 3, /makes records and changes none/],
  [
    'no way to write',
    [
      [UPDATE, ''],
      [CREATE, ''],
    ],
    11,
    3,
    /does not say how it is written/,
  ],
  ['a day that makes nothing', [[CREATE, '    dated: start_date\n']], 11, 3, /Add "create"/],
  ['pages of which the first is unknown', [[FIND, `${FIND}, paging: { by: offset }`]], 12, 47, /needs "first"/],
  [
    'a change that sends nothing',
    [[UPDATE, BODY]],
    13,
    70,
    /does not send fields\.title, fields\.startDate.*employment\.status/,
  ],
  ['a change of nobody but them', [['update: { patch: "/persons/{id}" }', OWN]], 18, 1, /"update" needs one of/],
  ['a name of people', [['at: last_name', 'at: employment.name']], 7, 21, /which searches do not show/],
  [
    'a field that a step writes too',
    [
      ['below:', 'steps: { job: { fields: [familyName, title], create: { post: /jobs, id: body.id } } }\nbelow:'],
      ['job.start_date:', 'job: "{steps.job}", job.start_date:'],
    ],
    10,
    38,
    /"title" is in a record below the employee \(employment\.position\.title\), and "steps\.job" would write it/,
  ],
  [
    'two fields at one place',
    [['employment.start_date', 'employment.position.title']],
    9,
    20,
    /is the place of "fields\.title"/,
  ],
  [
    'what a pending create leaves',
    [TICKET, ['job.title: "{fields.title}", ', '']],
    19,
    19,
    /"employment\.position\.title" must be in/,
  ],
  [
    'what is not ours',
    [
      ['reference: ref, ', ''],
      [/find: \{ reference.*/, 'find: {}'],
      ['job.title: "{fields.title}", ', ''],
    ],
    17,
    1,
    /without "record\.reference"/,
  ],
];

test.for(broken)('records below with %s are refused with line and column', ([, changes, line, column, says]) => {
  let text = PERSONS;
  for (const [from, to] of changes) {
    expect(text).toMatch(from);
    text = text.replace(from, to);
  }
  const { problems } = loadDefinition('kestrel.yaml', text);
  const told = problems.filter((one) => says.test(one.text));
  expect(told, JSON.stringify(problems)).toMatchObject([{ line, column }]);
});
