import { expect, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openKestrel } from './open-kestrel.ts';
import { signal } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { bearer: "{options.token}" }
record: { id: id }
fields: { email: { at: email }, givenName: { at: first }, familyName: { at: last } }
find:
  all:
    get: /staff
    query: { from: "{page.offset}", most: "{page.size}" }
    items: staff
    paging: { by: offset, first: 0, size: 10, total: total }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

/** A company of thirty, whose pages come only when they are let. */
async function openStaff(): Promise<{
  hris: HrisConnection;
  staff: { id: string; email: string }[];
  /** The pages that were asked for. */
  asked: string[];
  /** Answers so many further pages, each once it was asked for. */
  answer: (pages: number) => Promise<void>;
}> {
  const staff = Array.from({ length: 30 }, (_, n) => ({ id: `${n}`, email: `p${n}@kestrel.example` }));
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  let come = (): void => undefined;
  const hris = await openKestrel(
    DEFINITION,
    ({ url = '' }, say) => {
      const { searchParams } = new URL(url, 'http://hr');
      const [from, most] = [Number(searchParams.get('from')), Number(searchParams.get('most'))];
      asked.push(String(from));
      waiting.push(() => say(200, { staff: staff.slice(from, from + most), total: staff.length }));
      come();
    },
    { token: 'x' },
  );
  const answer = async (pages: number): Promise<void> => {
    for (let page = 0; page < pages; page += 1) {
      while (waiting.length === 0) await new Promise<void>((resolve) => (come = resolve));
      waiting.shift()?.();
    }
  };
  return { hris, staff, asked, answer };
}

const find = (hris: HrisConnection, value: string, until = signal) =>
  hris.employees.find({ by: 'email', value }, until);

test('searches at the same time read everybody together, and each finds whom it looks for', async () => {
  const { hris, asked, answer } = await openStaff();
  const found = Promise.all(['p7', 'p29', 'nobody'].map((name) => find(hris, `${name}@kestrel.example`)));
  await answer(3);
  expect(await found).toMatchObject([
    { kind: 'one', ref: { id: '7' } },
    { kind: 'one', ref: { id: '29' } },
    { kind: 'none', trusted: true },
  ]);
  expect(asked).toEqual(['0', '10', '20']);
});

test('a search never joins a reading that has begun, which would miss somebody who is new', async () => {
  const { hris, staff, asked, answer } = await openStaff();
  const first = find(hris, 'new@kestrel.example');
  await answer(2);
  staff.unshift({ id: 'new', email: 'new@kestrel.example' });
  const later = Promise.all([find(hris, 'new@kestrel.example'), find(hris, 'p3@kestrel.example')]);
  await answer(6);
  expect(await later).toMatchObject([{ ref: { id: 'new' } }, { ref: { id: '3' } }]);
  await first.catch(() => undefined);
  expect(asked).toHaveLength(8);
});

test('who stops waiting takes the reading from nobody, and once all have left it ends', async () => {
  const { hris, asked, answer } = await openStaff();
  const leaver = new AbortController();
  const both = Promise.allSettled([find(hris, 'p7@kestrel.example', leaver.signal), find(hris, 'p8@kestrel.example')]);
  await answer(1);
  leaver.abort();
  await answer(2);
  expect(await both).toMatchObject([
    { status: 'rejected', reason: { code: 'STOPPED' } },
    { status: 'fulfilled', value: { ref: { id: '8' } } },
  ]);
  const alone = new AbortController();
  const left = Promise.allSettled([find(hris, 'p9@kestrel.example', alone.signal)]);
  await expect.poll(() => asked.length).toBe(4);
  alone.abort();
  await left;
  const next = find(hris, 'p9@kestrel.example');
  await answer(4);
  expect(await next).toMatchObject({ ref: { id: '9' } });
  expect(asked.slice(-3)).toEqual(['0', '10', '20']);
});
