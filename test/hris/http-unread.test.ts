import { expect, test } from 'vitest';
import { openKestrel } from './open-kestrel.ts';
import { refusal, signal } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id, reference: reference }
fields: { familyName: { at: last }, email: { at: email } }
find:
  reference: { get: /staff, query: { reference: "{value}" }, items: staff }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
changes: { get: /changes, query: { since: "{since}" }, stamp: at, overlap: 0s, reread: true }
probe: { get: /me }
`;

/** Four employees changed; some records are answered with a status of their own. */
async function openStaff(odd: Readonly<Record<string, number>>, probe = 200) {
  const hris = await openKestrel(
    DEFINITION,
    (asked, say) => {
      const { pathname } = new URL(asked.url ?? '', 'http://hr');
      const id = pathname.split('/').at(-1) ?? '';
      if (pathname === '/me') return say(probe, {});
      if (pathname === '/changes')
        return say(
          200,
          ['1', '2', '3', '4'].map((one) => ({ id: one, at: `2026-11-27T12:00:0${one}Z` })),
        );
      return say(odd[id] ?? 200, { id, last: 'Reyes' });
    },
    { token: 'x' },
  );
  return { since: async () => hris.changes?.since(undefined, signal) };
}

test.each([301, 400, 403, 422, 500])('a changed record that is answered %i stops no other change', async (status) => {
  const { since } = await openStaff({ 2: status });
  const page = await since();
  expect(page?.employees.map(({ ref }) => ref.id)).toEqual(['1', '3', '4']);
  expect(page?.gone).toEqual([]);
  expect(page?.unread).toEqual([{ id: '2', reason: expect.stringContaining(`(status ${status})`) }]);
});

test('changes of an HR system that shows nobody are read again instead', async () => {
  const { since } = await openStaff({ 1: 422, 2: 422, 3: 422, 4: 422 });
  expect(await refusal(since())).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
});

test('changes of an HR system that fails for most are read again instead', async () => {
  const { since } = await openStaff({ 1: 500, 3: 500, 4: 503 });
  expect(await refusal(since())).toMatchObject({ action: 'retry' });
});

test('a single record that fails while the probe does is the fault of the HR system', async () => {
  const { since } = await openStaff({ 2: 500 }, 500);
  expect(await refusal(since())).toMatchObject({ action: 'retry' });
});
