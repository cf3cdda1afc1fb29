import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: external.hirebridge, number: no }
fields:
  givenName: { at: first }
  familyName: { at: last }
  birthDate: { at: born, type: date }
  email: { at: 'mails[kind="home"].address' }
  user: { at: login.user }
find:
  reference: { get: /staff, query: { by: reference, of: "{value}" }, items: staff, trusted: true }
  number: { get: /staff, query: { by: number, of: "{value}" }, items: staff, trusted: true }
  email: { get: /staff, query: { by: email, of: "{value}" }, items: staff, trusted: true }
  person: { get: /staff, query: { by: person, of: "{familyName}" }, items: staff, trusted: true }
  taken: { user: { get: /staff, query: { by: user, of: "{value}" }, items: staff, trusted: true } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

const ANA = {
  id: '1',
  no: 7,
  first: 'Ana',
  last: 'Reyes',
  born: '1990-05-17',
  external: { hirebridge: '27:ana' },
  mails: [{ kind: 'home', address: 'ana@kestrel.example' }],
  login: { user: 'areyes' },
};
const SUMMARY = { id: '1', first: 'Ana', last: 'Reyes' };

const KEYS = {
  reference: { by: 'reference', value: '27:ana' },
  number: { by: 'number', value: '7' },
  email: { by: 'email', value: 'ana@kestrel.example' },
  person: { by: 'person', givenName: 'Ana', familyName: 'Reyes', birthDate: '1990-05-17' },
} as const;
const NOBODY = { kind: 'none', trusted: true };
const UNSHOWN = {
  code: 'HRIS_UNREADABLE_ANSWER',
  message: expect.stringContaining('with records that do not show what was searched for'),
};

interface Shown {
  /** What a search answers with; a status alone is a refusal. */
  found: readonly object[] | number;
  /** The records by their ids. */
  read?: readonly { id: string; [key: string]: unknown }[];
  /** What is listed if everybody is asked for. */
  all?: readonly object[] | number;
  change?: (text: string) => string;
  /** Searches give what was found for any value, even for one that nobody has. */
  ignoresFilter?: boolean;
}

/** What was asked for besides, and the HR system. */
async function openStaff({ found, read = [], all = [], change = (text) => text, ignoresFilter = false }: Shown) {
  const asked: string[] = [];
  const hris: HrisConnection = await openKestrel(
    change(DEFINITION),
    ({ method, url = '' }, say) => {
      const { pathname, searchParams } = new URL(url, 'http://hr');
      if (searchParams.has('by') && typeof found === 'number') return say(found, { error: 'nobody' });
      const isOfNobody = !ignoresFilter && searchParams.get('of') === 'hirebridge-nobody';
      if (searchParams.has('by')) return say(200, { staff: isOfNobody ? [] : found });
      asked.push(`${method} ${pathname}`);
      if (method === 'POST') return say(201, { id: '9' });
      if (typeof all === 'number') return say(all, { error: 'nobody' });
      if (pathname === '/staff') return say(200, { staff: all });
      const record = read.find(({ id }) => pathname === `/staff/${id}`);
      return record === undefined ? say(404, {}) : say(200, record);
    },
    { token: 'x' },
  );
  return { asked, find: hris.employees.find, hris };
}

const distrusted = (text: string): string => text.replaceAll(', trusted: true', '');
const withAll = (text: string): string =>
  distrusted(text).replace('find:\n', 'find:\n  all: { get: /staff, items: staff }\n');

test.each(Object.values(KEYS))('who is found by $by as a summary is read', async (key) => {
  const { find, asked } = await openStaff({ found: [SUMMARY], read: [ANA] });
  expect(await find(key, signal)).toEqual({ kind: 'one', ref: { id: '1', number: '7' }, by: key.by });
  expect(asked).toEqual(['GET /staff/1']);
});

test('somebody whom a search shows as a summary is not created again, and their user name is taken', async () => {
  const { hris, asked } = await openStaff({ found: [SUMMARY], read: [ANA] });
  expect(await refusal(hris.employees.create({ familyName: 'Reyes' }, '27:ana', write))).toMatchObject({
    code: 'ALREADY_EXISTS',
    details: { id: '1' },
  });
  expect(asked).toEqual(['GET /staff/1']);
  expect(await hris.employees.isTaken?.('user', 'AReyes', signal)).toBe(true);
});

test('a system that cannot search by our reference shows it in the list of everybody', async () => {
  const change = (text: string): string => withAll(text).replace(/^ {2}reference: \{ get.*\n/m, '');
  const known = await openStaff({ found: [], all: [ANA], change });
  expect(await known.find(KEYS.reference, signal)).toMatchObject({ kind: 'one', ref: { id: '1' } });
  const again = known.hris.employees.create({ familyName: 'Reyes' }, '27:ana', write);
  expect(await refusal(again)).toMatchObject({ code: 'ALREADY_EXISTS', details: { id: '1' } });
  expect(known.asked).toEqual(['GET /staff', 'GET /staff']);
  const { find } = await openStaff({ found: [], all: [{ ...ANA, external: { hirebridge: '27:bo' } }], change });
  expect(await find(KEYS.reference, signal)).toEqual(NOBODY);
});

test.each([
  ['whose value is empty', { ...SUMMARY, external: { hirebridge: null }, mails: [], born: null, no: '' }],
  ['in whose place there is nothing', { ...SUMMARY, external: null, mails: null, born: '', no: null }],
  [
    'that is somebody else',
    { ...ANA, external: { hirebridge: '27:bo' }, no: 8, mails: [{ kind: 'work' }], born: '1991-01-01' },
  ],
])('a hit %s is nobody, and is not read', async (_what, hit) => {
  const { find, asked } = await openStaff({ found: [hit] });
  for (const key of Object.values(KEYS)) expect(await find(key, signal)).toEqual(NOBODY);
  expect(asked).toEqual([]);
});

test('a hit of another name is not read for its date of birth', async () => {
  const { find, asked } = await openStaff({ found: [{ ...SUMMARY, first: 'Bo' }] });
  expect(await find(KEYS.person, signal)).toEqual(NOBODY);
  expect(asked).toEqual([]);
});

test('a namesake who has no date of birth at all is nobody', async () => {
  const { find } = await openStaff({ found: [SUMMARY], read: [SUMMARY] });
  expect(await find(KEYS.person, signal)).toEqual(NOBODY);
});

test.each(['1990-05-17', '1990-05-17T00:00:00Z', '1990-05-17 00:00', '1990-05-17T00:00:00.000+02:00'])(
  'a day may be written as %s',
  async (born) => {
    const { hris } = await openStaff({ found: [], read: [{ ...ANA, born }] });
    expect(await hris.employees.read('1', signal)).toMatchObject({ fields: { birthDate: '1990-05-17' } });
  },
);

// Midnight of the next day in Berlin, and a time of which nobody knows where it is midnight.
const TIMES = ['1990-05-16T22:00:00Z', '1990-05-17T12:00:00Z', '1990-05-16T22:00:00.000', '1990-05-17T00:00:01'];

test.each(TIMES)('a day that is written as %s is not read', async (born) => {
  const { hris } = await openStaff({ found: [], read: [{ ...ANA, born }] });
  const read = await hris.employees.read('1', signal);
  expect(read?.fields).not.toHaveProperty('birthDate');
  expect(read?.unreadable).toEqual({ birthDate: 'NOT_A_DAY' });
});

// Midnight of that day in Berlin, in New York and in Tokyo.
test.each(['1990-05-16T22:00:00Z', '1990-05-17T04:00:00Z', '1990-05-16T15:00:00Z'])(
  'a day that is written as %s is read as the documents say',
  async (born) => {
    const guide = readFileSync(new URL('../../docs/http-definitions.md', import.meta.url), 'utf8');
    const [, read = ''] = /`(read: '[^`]*43200000[^`]*)`/.exec(guide) ?? [];
    const change = (text: string): string => text.replace('at: born, type', `at: born, ${read}, type`);
    const { hris, find } = await openStaff({ found: [{ ...ANA, born }], read: [{ ...ANA, born }], change });
    expect(await hris.employees.read('1', signal)).toMatchObject({ fields: { birthDate: '1990-05-17' } });
    expect(await find(KEYS.person, signal)).toMatchObject({ kind: 'one' });
    const nobody = await openStaff({ found: [], read: [{ ...ANA, born: null }], change });
    expect(await nobody.hris.employees.read('1', signal)).toMatchObject({ fields: { birthDate: null } });
  },
);

const BORN_SOMETIME = { ...ANA, born: '1990-05-16T22:00:00Z' };

test.each([
  ['a trusted search', { found: [BORN_SOMETIME], read: [BORN_SOMETIME] }, '"find.person"'],
  ['a summary', { found: [SUMMARY], read: [BORN_SOMETIME] }, '"find.person"'],
  ['a list of everybody', { found: [], all: [BORN_SOMETIME], change: withAll }, '"find.all"'],
])('a namesake in %s whose day of birth is not read may be the one who is searched for', async (_what, shown, key) => {
  const { find } = await openStaff(shown);
  const refused = await refusal(find(KEYS.person, signal));
  expect(refused).toMatchObject(UNSHOWN);
  expect(refused.message).toContain(key);
  expect(refused.message).toContain('"fields.birthDate"');
  // Another name is that of somebody else, and an address is compared without the day.
  expect(await find({ ...KEYS.person, givenName: 'Bo' }, signal)).toEqual(NOBODY);
  expect(await find({ by: 'email', value: 'bo@kestrel.example' }, signal)).toEqual(NOBODY);
});

test('a namesake whose day of birth only their own record shows in a readable form is read', async () => {
  const { find, asked } = await openStaff({ found: [BORN_SOMETIME], read: [ANA] });
  expect(await find(KEYS.person, signal)).toMatchObject({ kind: 'one', ref: { id: '1' } });
  expect(asked).toEqual(['GET /staff/1']);
});

const MANY = Array.from({ length: 21 }, (_one, at) => ({ id: String(at) }));

test.each([
  ['that no record shows either', [SUMMARY], [SUMMARY]],
  ['of somebody whom a read does not find', [SUMMARY], []],
  ['of more people than are read', MANY, MANY],
])('a trusted search by a value %s is refused', async (_what, found, read) => {
  const { find } = await openStaff({ found, read });
  for (const by of ['reference', 'number', 'email'] as const)
    expect(await refusal(find(KEYS[by], signal))).toMatchObject(UNSHOWN);
  const { message } = await refusal(find(KEYS.reference, signal));
  expect(message).toContain('"find.reference", "record.reference"');
});

/** People who show all that is compared, and are not meant. */
const STRANGERS = MANY.map(({ id }) => ({
  ...ANA,
  id,
  no: `s${id}`,
  last: `Okafor ${id}`,
  external: { hirebridge: `27:${id}` },
  mails: [{ kind: 'home', address: `s${id}@kestrel.example` }],
}));

test.each([2, 21])('a trusted search that ignores its filter and gives %i others is not believed', async (many) => {
  for (const by of ['reference', 'number', 'email'] as const) {
    const { find } = await openStaff({ found: STRANGERS.slice(0, many), ignoresFilter: true });
    expect(await refusal(find(KEYS[by], signal))).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'reject',
      message: expect.stringMatching(
        new RegExp(`${many} people who do not match.*may ignore the filter.*"find\\.${by}"`),
      ),
    });
  }
  // Many are born on one day.
  expect(await (await openStaff({ found: STRANGERS })).find(KEYS.person, signal)).toEqual(NOBODY);
  const { find } = await openStaff({ found: [...STRANGERS, ANA], ignoresFilter: true });
  expect(await find(KEYS.reference, signal)).toMatchObject({ kind: 'one', ref: { id: '1' } });
});

test.each([
  ['others, who are like the one that is meant', STRANGERS, (text: string) => text],
  [
    'pages up to the last',
    STRANGERS,
    (text: string) => text.replace('items: staff', 'items: staff, paging: { by: link, total: $count(staff) }'),
  ],
])('a trusted search that gives %s proves that nobody is there', async (_what, found, change) => {
  const { find } = await openStaff({ found, change });
  expect(await find(KEYS.reference, signal)).toEqual(NOBODY);
});

test('a search that is not trusted proves nothing by such hits', async () => {
  const { find, hris } = await openStaff({ found: [SUMMARY], read: [SUMMARY], change: distrusted });
  expect(await find(KEYS.reference, signal)).toEqual({ kind: 'none', trusted: false });
  expect(await refusal(hris.employees.isTaken?.('user', 'areyes', signal) ?? Promise.resolve())).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringContaining('does not show who has the user'),
  });
});

test('a list of everybody that leaves out what its records have proves nothing', async () => {
  const { find } = await openStaff({ found: [], all: [SUMMARY], read: [ANA], change: withAll });
  for (const by of ['reference', 'number', 'email', 'person'] as const) {
    const key = by === 'person' ? { ...KEYS.person, birthDate: '1991-01-01' } : { ...KEYS[by], value: 'other' };
    const refused = await refusal(find(key, signal));
    expect(refused).toMatchObject(UNSHOWN);
    expect(refused.message).toContain('"find.all"');
  }
});

test.each([
  ['some have no value', [{ ...ANA, id: '2' }, SUMMARY, SUMMARY], []],
  ['nobody has one', [SUMMARY, { ...SUMMARY, id: '2' }], [SUMMARY]],
  ['there is nobody', [], []],
])('a list of everybody proves that somebody is absent, if %s', async (_what, all, read) => {
  const { find } = await openStaff({ found: [], all, read, change: withAll });
  expect(await find({ by: 'email', value: 'other@kestrel.example' }, signal)).toEqual(NOBODY);
});

const ROW = 'errors: [{ status: 404, when: body.error = "nobody", means: absent }]\n';

test.each([
  ['is refused', '', '', { code: 'NOT_FOUND', action: 'reject' }],
  ['finds nobody by a row of "errors", which proves nothing', '', ROW, { kind: 'none', trusted: false }],
  ['proves that nobody is there if it says so itself', 'absent: [404], ', ROW, NOBODY],
])('a search that is answered 404 %s', async (_what, absent, rows, outcome) => {
  for (const method of ['get', 'post']) {
    const { find } = await openStaff({
      found: 404,
      change: (text) => `${text.replace('reference: { get:', `reference: { ${absent}${method}:`)}${rows}`,
    });
    expect(await find(KEYS.reference, signal).catch((error: unknown) => error)).toMatchObject(outcome);
  }
});

test('a list of everybody that a row of "errors" calls absent proves nothing', async () => {
  const { find } = await openStaff({ found: [], all: 404, change: (text) => `${withAll(text)}${ROW}` });
  expect(await find(KEYS.reference, signal)).toEqual({ kind: 'none', trusted: false });
});

const STAFF = [
  { ...ANA, id: '3', kind: 'guest', external: { hirebridge: '27:bo' }, mails: [] },
  { ...ANA, id: '4', kind: 'person', external: { hirebridge: '27:bo' }, mails: [] },
  { ...ANA, kind: 'person' },
];

test.each([
  ['staff[kind="person"]', STAFF],
  ['staff[kind!="guest"]', STAFF],
  ['staff[kind="person"].data', STAFF.map(({ kind, ...data }) => ({ kind, data }))],
])('a list of everybody that is filtered by %s leaves out nobody who fits', async (items, all) => {
  const change = (text: string): string =>
    withAll(text).replace('all: { get: /staff, items: staff }', `all: { get: /staff, items: '${items}' }`);
  const { find } = await openStaff({ found: [], all, change });
  expect(await find(KEYS.email, signal)).toMatchObject({ kind: 'one', ref: { id: '1' } });
});

test.each(['staff[kind="person"]', '[staff[kind!="guest"]]'])('nobody fits the filter %s', async (items) => {
  const guests = [{ ...ANA, kind: 'guest' }];
  const { find } = await openStaff({
    found: guests,
    change: (text) => text.replace('items: staff', `items: '${items}'`),
  });
  expect(await find(KEYS.reference, signal)).toEqual(NOBODY);
});

test.each(['stuff[kind="person"]', 'staff[kind!="guest"]', 'staff[sort="person"]'])(
  'a filter that gives no list at all proves nothing: %s',
  async (items) => {
    const { find } = await openStaff({
      found: [{ ...ANA, kind: 'guest' }],
      change: (text) => text.replace('items: staff', `items: '${items}'`),
    });
    expect(await refusal(find(KEYS.reference, signal))).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      message: expect.stringContaining('Check "find.reference.items" of the definition'),
    });
  },
);

test.each([
  ['a text', 'no', false],
  ['a number', 0, false],
  ['true', true, true],
  ['null', null, true],
])('whether somebody has left, told by %s', async (_what, left, isRead) => {
  const change = (text: string): string => text.replace('number: no', 'number: no, former: left');
  const { hris } = await openStaff({ found: [], read: [{ ...ANA, left } as never], change });
  const read = hris.employees.read('1', signal);
  if (isRead) expect((await read)?.former).toBe(left ?? undefined);
  else
    expect(await refusal(read)).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      message: expect.stringMatching(/"record\.former" .*neither true nor false.*leftOn != null/),
    });
});

test('a trusted search that says nobody is told the placeholders that it can use', () => {
  const problemsOf = (query: string) =>
    loadDefinition(
      'kestrel.yaml',
      DEFINITION.replace(
        '  taken:',
        `  name: { get: /staff, query: { of: "${query}" }, items: staff, trusted: true }\n  taken:`,
      ),
    ).problems.map(({ text }) => text);
  const [told = ''] = problemsOf('anybody');
  const usable = Array.from(told.matchAll(/\{\w+\}/g), ([one]) => one);
  expect(usable.length).toBeGreaterThan(1);
  for (const one of usable) expect(problemsOf(one), one).toEqual([]);
});
