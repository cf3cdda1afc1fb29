import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import { type Answer, openKestrel, startKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

/** Takes uploads by our reference, says later what became of them, and has tokens elsewhere. */
const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { secret: { secret: true }, login: {} }
auth: { oauth2: { tokenPath: "{options.login}/token?v=2", clientId: hb, clientSecret: "{options.secret}" } }
record: { id: id, reference: reference }
fields: { familyName: { at: last } }
find: { reference: { get: /staff, query: { reference: "{value}" }, trusted: true } }
read: { get: "/staff/{id}" }
create:
  post: /uploads
  body: { key: "{reference}", data: "{record}" }
  ticket: 'reference & " " & headers.\`x-batch\`'
pending: { get: /log, query: { of: "{ticket}" }, done: done, refused: refused, id: staff }
update: { post: /uploads, body: { key: "{reference}", data: "{record}" } }
terminate: { post: /uploads, body: { key: "{reference}", leaves: "{lastDay}" } }
probe: { get: /me }
readLag: 0s
said: body.why
`;

interface Asked {
  host: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  body: string;
}

/** The system and, at another address, what gives out its tokens; both note what they were asked. */
async function open(answers: Readonly<Record<string, unknown>>, given: { login?: string } = {}) {
  const asked: Asked[] = [];
  const answer: Answer = async (request, say) => {
    const { url = '', headers } = request;
    const { host, authorization } = headers;
    asked.push({ host, path: url, authorization, body: (await buffer(request)).toString() });
    const found = Object.entries(answers).find(([path]) => url.startsWith(path));
    return found === undefined ? say(404, {}) : say(200, found[1], { 'x-batch': 'b7' });
  };
  const { login = await startKestrel(answer) } = given;
  const hris = await openKestrel(DEFINITION, answer, { secret: 'hush', login }, '/api');
  const at = (path: string) => asked.filter((one) => one.path?.startsWith(path) === true);
  return { hris, at, loginHost: login.replace('http://', '') };
}

const TOKEN = { '/token': { access_token: 't1' } };

test('a token of another address is asked for there, and its secret goes nowhere else', async () => {
  const { hris, at, loginHost } = await open({ ...TOKEN, '/api/me': {} });
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(at('/token')).toMatchObject([{ host: loginHost, path: '/token?v=2' }]);
  expect(at('/api')).toMatchObject([{ host: expect.not.stringContaining(loginHost), authorization: 'Bearer t1' }]);
});

test.for([
  ['is answered 404', { '/api/me': {} }, {}, 'HRIS_AUTH', /Check "auth\.oauth2\.tokenPath" of the definition/],
  ['is no address', TOKEN, { login: 'login.example' }, 'HRIS_OPTIONS_INVALID', /"auth\.oauth2\.tokenPath"/],
] as const)('a token endpoint that %s is named by its key', async ([, answers, options, code, says]) => {
  const refused = await refusal(open(answers, options).then(async ({ hris }) => hris.employees.read('1', signal)));
  expect(refused).toMatchObject({ code, message: expect.stringMatching(says) });
});

test('a ticket may be our reference, with what the answer adds', async () => {
  const { hris } = await open({ ...TOKEN, '/api/staff': [], '/api/uploads': {}, '/api/log': { done: false } });
  const made = await hris.employees.create({ familyName: 'Reyes' }, '27:a', write);
  expect(made).toMatchObject({ kind: 'pending', ticket: '27:a b7' });
  expect(await hris.pending?.resolve('27:a b7', signal)).toMatchObject({ kind: 'pending' });
});

test.for([
  ['with what people may see of it', { why: 'No cost centre.' }, ' It said: "No cost centre."'],
  ['without a secret', { why: 'hush was sent by t1.' }, ' It said: "… was sent by …."'],
  ['without words, if there are none', {}, ''],
] as const)('a pending create that is refused is told %s', async ([, why, said]) => {
  const { hris } = await open({ ...TOKEN, '/api/log': { refused: true, ...why } });
  expect(await refusal(hris.pending?.resolve('27:a b7', signal) ?? Promise.resolve())).toMatchObject({
    code: 'HIRE_REJECTED',
    message: `Kestrel refused the new employee for good. Ask the people there why, and correct the data.${said}`,
  });
});

test('a change may name an employee by our reference, which is read from the record', async () => {
  const ana = { id: '7', reference: '27:a', last: 'Reyes' };
  const { hris, at } = await open({ ...TOKEN, '/api/staff/7': ana, '/api/uploads': {} });
  await hris.employees.update('7', { familyName: 'Ruiz' }, write);
  await hris.employees.terminate?.('7', '2026-02-20', write);
  expect(at('/api/uploads').map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { key: '27:a', data: { last: 'Ruiz' } },
    { key: '27:a', leaves: '2026-02-20' },
  ]);
});

test('without a reference in the record nothing is sent: it would be about nobody', async () => {
  const { hris, at } = await open({ ...TOKEN, '/api/staff/7': { id: '7', last: 'Reyes' }, '/api/uploads': {} });
  const refused = await refusal(hris.employees.update('7', { familyName: 'Ruiz' }, write));
  expect(refused).toMatchObject({ code: 'HRIS_UNREADABLE_ANSWER', action: 'reject' });
  expect(refused.message).toContain('POST /uploads was not sent, because it names employees by our reference');
  expect(at('/api/uploads')).toEqual([]);
});

test.for([
  [
    'another protocol',
    '{options.login}/token?v=2',
    'ftp://login.example',
    '"ftp',
    /Begin it with \/ to continue hris\.url, or/,
  ],
  [
    'a reference that no record has',
    ', reference: reference }',
    ' }',
    'update',
    /"update" names \{reference\}, but "record\.reference" does not say/,
  ],
  [
    'a ticket of a field',
    "'reference &",
    "'references &",
    "'references",
    /reads \{ status, headers, body, reference \}/,
  ],
  [
    'an update of anybody',
    '{ key: "{reference}", data: "{record}" } }\nterminate',
    '{ data: "{record}" } }\nterminate',
    'update',
    /Add \{id\}/,
  ],
] as const)('%s is refused at its line', ([, from, to, at, says]) => {
  expect(DEFINITION).toContain(from);
  const text = DEFINITION.replace(from, to);
  const { problems } = loadDefinition('kestrel.yaml', text);
  const problem = problems.find((one) => says.test(one.text));
  const told = problems.map((one) => `${one.line}:${one.column} ${one.text}`).join('\n');
  expect(problem, told).toBeDefined();
  const there = (text.split('\n')[(problem?.line ?? 0) - 1] ?? '').slice((problem?.column ?? 0) - 1);
  expect(there, told).toMatch(new RegExp(`^${at}`));
});

test('the definition that the broken ones are made of is a good one', () => {
  expect(loadDefinition('kestrel.yaml', DEFINITION).problems).toEqual([]);
});
