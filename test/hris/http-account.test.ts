import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Answer, openKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

const definitionOf = (probe: string): string => `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true }, company: {} }
auth: { bearer: "{options.token}" }
record: { id: id, reference: reference }
fields: { givenName: { at: first }, familyName: { at: last }, email: { at: email }, startDate: { at: since } }
find: { reference: { get: /staff, query: { reference: "{value}" }, trusted: true } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: ${probe}
`;
const CHECKED = '{ get: /me, account: { at: company.id, is: "{options.company}" } }';
const OTHER = { code: 'HRIS_OTHER_ACCOUNT', action: 'reauthorize' };

/** An HR system at one address for every customer: the token alone says whose people it shows. */
async function openShared(probe = CHECKED) {
  const hr = { company: 'acme' as unknown, made: [] as unknown[], asked: 0 };
  const answer: Answer = async (asked, say) => {
    const body = await text(asked);
    if (asked.url === '/me') {
      hr.asked += 1;
      return say(200, { company: { id: hr.company } });
    }
    if (asked.method !== 'POST') return say(200, []);
    hr.made.push({ of: hr.company, ...(JSON.parse(body) as object) });
    return say(201, { id: `${hr.made.length}`, ...(JSON.parse(body) as object) });
  };
  const hris = await openKestrel(definitionOf(probe), answer, { token: 'x', company: 'acme' });
  const fields = { givenName: 'Ana', familyName: 'Reyes', email: 'ana@example.org', startDate: '2026-02-01' };
  const hire = (reference: string) => hris.employees.create(fields, reference, write);
  return { hr, hris, hire };
}

test('nobody is made with the key of another company', async () => {
  const { hr, hris, hire } = await openShared();
  hr.company = 'bolt';
  expect(await refusal(hire('27:1'))).toMatchObject(OTHER);
  expect(await hris.probe(signal)).toMatchObject({ ok: false, error: OTHER });
  expect(hr.made).toEqual([]);
  hr.company = 'acme';
  expect(await hire('27:1')).toMatchObject({ kind: 'created' });
});

test.each([undefined, null, '', {}])('an account that is not told (%j) is another one', async (told) => {
  const { hr, hire } = await openShared();
  hr.company = told;
  expect(await refusal(hire('27:1'))).toMatchObject(OTHER);
  expect(hr.made).toEqual([]);
});

test('a key that is moved to another company is noticed within a minute, and asked about once a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { hr, hire } = await openShared();
  for (const reference of ['27:1', '27:2', '27:3']) await hire(reference);
  expect(hr.asked).toBe(1);
  hr.company = 'bolt';
  vi.advanceTimersByTime(61_000);
  expect(await refusal(hire('27:4'))).toMatchObject(OTHER);
  expect(hr.made).toHaveLength(3);
});

test('a definition without it asks nothing', async () => {
  const { hr, hire } = await openShared('{ get: /me }');
  await hire('27:1');
  expect(hr.asked).toBe(0);
});
