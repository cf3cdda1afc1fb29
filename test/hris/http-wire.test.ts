import { expect, test } from 'vitest';
import { openKestrel, startKestrel } from './open-kestrel.ts';
import { signal, write } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { secret: { secret: true } }
auth: { bearer: "{options.secret}" }
record: { id: id, reference: ref }
fields: { familyName: { at: last }, salary: { at: salary, type: number } }
find:
  reference: { get: /staff, query: { limit: 2, filter: { is: ["ref", "{value}"] } }, items: staff, trusted: true }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

/** An HR system that gives these bytes for any request, and the requests. */
async function openAnswering(body: string) {
  const asked: URL[] = [];
  const hris = await openKestrel(
    DEFINITION,
    ({ url = '' }, say) => {
      asked.push(new URL(url, 'http://hr'));
      say(200, Buffer.from(body));
    },
    { secret: 'x' },
  );
  return { hris, asked };
}

test('a value of a query that is no text is sent as JSON', async () => {
  const { hris, asked } = await openAnswering('{"staff":[]}');
  const value = '27:"ana" & {co}';
  expect(await hris.employees.find({ by: 'reference', value }, signal)).toEqual({ kind: 'none', trusted: true });
  expect(asked.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual([
    { limit: '2', filter: JSON.stringify({ is: ['ref', value] }) },
  ]);
});

test('an id beyond 2^53 keeps its digits, in an answer to a create too', async () => {
  const { hris, asked } = await openAnswering('{ "id": 705358000000229001, "salary": 1200.50, "staff": [] }');
  const made = await hris.employees.create({ familyName: 'Reyes' }, '27:ben', write).catch((error: unknown) => error);
  expect(made).toEqual({ kind: 'created', ref: { id: '705358000000229001' } });
  const record = await hris.employees.read('705358000000229001', signal);
  expect(record).toMatchObject({ ref: { id: '705358000000229001' }, fields: { salary: 1200.5 } });
  expect(asked.at(-1)?.pathname).toBe('/staff/705358000000229001');
});

test('a byte order mark before an answer is no part of it', async () => {
  const { hris } = await openAnswering('\uFEFF{ "id": 7, "last": "Reyes" }');
  expect(await hris.employees.read('7', signal)).toMatchObject({ ref: { id: '7' }, fields: { familyName: 'Reyes' } });
});

test.for([
  [
    'oauth2: { tokenPath: "TOKENS/{options.company}/token?x=1", clientId: hb, clientSecret: "{options.secret}" }',
    'Bearer t1',
  ],
  [
    'login: { post: "TOKENS/{options.company}/token?x=1", body: { key: "{options.secret}" }, ' +
      'token: body.access_token, carry: { authorization: "Other {token}" } }',
    'Other t1',
  ],
])('a token comes from an address of its own: %s', async ([auth, carried]) => {
  const logins: string[] = [];
  const tokens = await startKestrel(({ url = '' }, say) => {
    logins.push(url);
    say(200, { access_token: 't1' });
  });
  const seen: unknown[] = [];
  const hris = await openKestrel(
    DEFINITION.replace('secret: { secret: true }', 'secret: { secret: true }, company: {}').replace(
      'bearer: "{options.secret}"',
      (auth as string).replace('TOKENS', tokens),
    ),
    ({ headers }, say) => {
      seen.push(headers.authorization);
      say(200, {});
    },
    { secret: 'x', company: 'kestrel & co' },
    '/hr',
  );
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(logins).toEqual(['/kestrel%20%26%20co/token?x=1']);
  expect(seen).toEqual([carried]);
});

test('a read that is refused sends nobody to its data', async () => {
  const hris = await openKestrel(DEFINITION, (_asked, say) => say(400, { error: 'not a UUID' }), { secret: 'x' });
  const refused = await hris.employees.read('7', signal).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'INVALID_VALUE',
    message:
      'GET /staff/{id} was answered 400: the HR system refuses it: check the rights of its user, and "read" of the ' +
      'definition. If it answers so to an id of another form, add 400 to "read.absent".',
  });
});

test('a definition that reads no number says that nobody gets one', async () => {
  const { hris } = await openAnswering('{}');
  expect(await hris.givesNumber?.(signal)).toBe(false);
  const numbered = DEFINITION.replace('ref }', 'ref, number: no }');
  const other = await openKestrel(numbered, (_asked, say) => say(200, {}), { secret: 'x' });
  expect(other.givesNumber).toBeUndefined();
});
