import { expect, test } from 'vitest';
import { type Answer, openKestrel } from './open-kestrel.ts';
import { employee, refusal, signal } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: reference }
fields: { familyName: { at: last }, email: { at: email } }
find:
  reference: { get: /staff, query: { reference: "{value}" }, items: staff }
  email: { get: /staff, query: { email: "{value}" }, items: staff }
  all: { get: /staff, query: { cursor: "{page.cursor}" }, items: staff, paging: { by: cursor, next: next } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
changes: { get: /changes, query: { since: "{since}" }, stamp: at, overlap: 0s }
probe: { get: /me }
`;

interface Staff {
  changes: { id: string; at?: string | null; born?: string }[];
  /** Cursors that end before they are used. */
  expire: number;
}

async function openStaff(change: (text: string) => string = (text) => text) {
  const staff: Staff = { changes: [], expire: 0 };
  const answer: Answer = (asked, say) => {
    const url = new URL(asked.url ?? '', 'http://hr');
    if (url.pathname === '/changes') return say(200, staff.changes);
    const [cursor, isSearch] = [url.searchParams.get('cursor'), url.searchParams.has('email')];
    if (isSearch || url.searchParams.has('reference')) return say(200, { staff: [] });
    if (cursor === null) return say(200, { staff: [{ id: '1', last: 'Reyes' }], next: 'two' });
    if (staff.expire > 0) {
      staff.expire -= 1;
      return say(410, { error: 'cursor_expired' });
    }
    return say(200, { staff: [{ id: '2', last: 'Okafor', email: employee('late')['email'] }], next: null });
  };
  const hris = await openKestrel(change(DEFINITION), answer, { token: 'x' });
  return { staff, hris };
}

test.each([
  ['a fraction of the same second', '2026-11-27T12:00:05Z', '2026-11-27T12:00:05.3Z'],
  ['a longer fraction', '2026-11-27T12:00:05.3Z', '2026-11-27T12:00:05.325Z'],
  ['another zone', '2026-11-27T12:00:05+01:00', '2026-11-27T11:30:00Z'],
])('a change is not left out whose stamp has %s', async (_what, earlier, later) => {
  const { staff, hris } = await openStaff();
  staff.changes.push({ id: '1', at: earlier });
  let cursor: string | undefined;
  const seen = async (): Promise<string[]> => {
    const page = await hris.changes?.since(cursor, signal);
    cursor = page?.next;
    return page?.employees.map(({ ref }) => ref.id) ?? [];
  };
  expect(await seen()).toEqual(['1']);
  await seen();
  expect(await seen()).toEqual([]);
  staff.changes.push({ id: '2', at: later });
  expect(await seen()).toEqual(['2']);
});

test('a change that is stamped years ahead hides no later change', async () => {
  const { staff, hris } = await openStaff();
  staff.changes.push({ id: '1', at: '2099-01-01T00:00:00Z' }, { id: '2', at: new Date().toISOString() });
  let cursor: string | undefined;
  const seen = async (): Promise<string[]> => {
    const page = await hris.changes?.since(cursor, signal);
    cursor = page?.next;
    return page?.employees.map(({ ref }) => ref.id) ?? [];
  };
  expect(await seen()).toEqual(['2', '1']);
  await seen();
  await seen();
  staff.changes.push({ id: '3', at: new Date(Date.now() + 1_000).toISOString() });
  expect(await seen()).toContain('3');
});

test('a list whose cursor ends while it is read is read anew, and holds nobody', async () => {
  const { staff, hris } = await openStaff();
  staff.expire = 1;
  const look = () => hris.employees.find({ by: 'email', value: String(employee('late')['email']) }, signal);
  expect(await refusal(look())).toMatchObject({ action: 'retry' });
  expect(await look()).toMatchObject({ kind: 'one', ref: { id: '2' } });
});

test.each([
  ['no stamp', undefined],
  ['an empty one', ''],
  ['null for one', null],
])('a change with %s is refused instead of left out', async (_what, at) => {
  const { staff, hris } = await openStaff();
  staff.changes.push({ id: '1', at: '2026-11-27T12:00:05Z' }, { id: '2', ...(at !== undefined && { at }) });
  expect(await refusal(hris.changes?.since(undefined, signal) ?? Promise.resolve())).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringContaining('"changes.stamp"'),
  });
});

test.each([undefined, null, ''])('a change whose stamp is %j has the one that is named next', async (at) => {
  const { staff, hris } = await openStaff((text) => text.replace('stamp: at', 'stamp: "at ?: born"'));
  staff.changes.push({ id: '1', born: '2026-11-27T12:00:05Z', ...(at !== undefined && { at }) });
  const page = await hris.changes?.since(undefined, signal);
  expect(page?.employees.map(({ ref }) => ref.id)).toEqual(['1']);
});

const PAGED = 'query: { since: "{since}", page: "{page.number}" }, paging: { by: page }, stamp: at';

/** Pages of a log of changes, and whether it ignores the page that is asked for. */
async function openLog(pages: { id: string; at: string }[][], isDeaf = false) {
  let answers = 0;
  const hris = await openKestrel(
    DEFINITION.replace('query: { since: "{since}" }, stamp: at', PAGED),
    ({ url = '' }, say) => {
      const page = isDeaf ? 1 : Number(new URL(url, 'http://hr').searchParams.get('page'));
      answers += 1;
      return say(
        200,
        (pages[page - 1] ?? []).map((one) => ({ ...one, answers })),
      );
    },
    { token: 'x' },
  );
  return async () => (await hris.changes?.since(undefined, signal))?.employees.map(({ ref }) => ref.id);
}

const [EARLY, LATE] = ['2026-11-27T12:00:05Z', '2026-11-27T12:00:06Z'];

test.each([
  ['at another time', LATE],
  ['at the same time', EARLY],
])('a log that names one employee first on two pages, %s, is read to its end', async (_what, at) => {
  const seen = await openLog([
    [
      { id: '1', at: EARLY },
      { id: '2', at: EARLY },
    ],
    [
      { id: '1', at },
      { id: '3', at },
    ],
  ]);
  expect(new Set(await seen())).toEqual(new Set(['1', '2', '3']));
});

test('a log that gives the same changes again is refused, whatever else is different', async () => {
  const seen = await openLog([[{ id: '1', at: EARLY }]], true);
  expect(await refusal(seen())).toMatchObject({ message: expect.stringContaining('gave the same page again') });
});

test('who is pushed out of a page of changes by an edit is read in the next pass', async () => {
  const log = ['1', '2', '3', '4'].map((id) => ({ id, at: `2026-11-27T12:00:0${id}Z` }));
  let isEdited = false;
  const answer: Answer = ({ url = '' }, say) => {
    const { pathname, searchParams } = new URL(url, 'http://hr');
    if (pathname !== '/changes') return say(200, { staff: [], next: null });
    const [since, page] = [searchParams.get('since') ?? '', Number(searchParams.get('page'))];
    const listed = log.filter(({ at }) => at > since).toSorted((one, other) => (one.at < other.at ? -1 : 1));
    say(200, listed.slice(2 * page - 2, 2 * page));
    // Number 1 goes to the end, and number 3 to the page that was read.
    if (!isEdited) log[0] = { id: '1', at: '2026-11-27T12:00:09Z' };
    isEdited = true;
  };
  const paged = DEFINITION.replace(
    'since: "{since}" }',
    'since: "{since}", page: "{page.number}" }, paging: { by: page }',
  );
  const hris = await openKestrel(paged, answer, { token: 'x' });
  const first = await hris.changes?.since(undefined, signal);
  expect(first?.employees.map(({ ref }) => ref.id)).toEqual(['1', '2', '4', '1']);
  const second = await hris.changes?.since(first?.next, signal);
  expect(second?.employees.map(({ ref }) => ref.id)).toEqual(['2', '3', '4', '1']);
  const third = await hris.changes?.since(second?.next, signal);
  expect(third?.employees).toEqual([]);
});
