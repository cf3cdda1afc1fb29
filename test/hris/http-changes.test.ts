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
  changes: { id: string; at: string }[];
  /** Cursors that end before they are used. */
  expire: number;
}

async function openStaff() {
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
  const hris = await openKestrel(DEFINITION, answer, { token: 'x' });
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
