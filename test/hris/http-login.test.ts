import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Answer, openKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

const DEFINITION = `hrisDefinition: 1
name: Kestrel
options: { secret: { secret: true } }
auth: { oauth2: { tokenPath: /token, clientId: hb, clientSecret: "{options.secret}" } }
record: { id: id, reference: reference }
fields: { familyName: { at: last } }
find: { reference: { get: /staff, query: { reference: "{value}" }, trusted: true } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

/** An HR system whose tokens end after so many seconds; counts the logins. */
async function openWithTokensOf(seconds: number) {
  const tokens = new Map<string, number>();
  const answer: Answer = async (asked, say) => {
    await buffer(asked);
    if (asked.url === '/token') {
      const token = `t${tokens.size}`;
      tokens.set(token, performance.now() + seconds * 1_000);
      return say(200, { access_token: token, expires_in: seconds });
    }
    const until = tokens.get(asked.headers.authorization?.slice('Bearer '.length) ?? '') ?? 0;
    return until > performance.now() ? say(200, {}) : say(401, {});
  };
  const hris = await openKestrel(DEFINITION, answer, { secret: 'x' });
  return { hris, logins: () => tokens.size };
}

test('a token of half a minute serves more than one call', async () => {
  const { hris, logins } = await openWithTokensOf(30);
  for (const _call of [1, 2, 3, 4, 5]) expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(logins()).toBe(1);
});

test('a token is replaced before it ends', async () => {
  const { hris, logins } = await openWithTokensOf(2);
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  await pause(1_100);
  expect(await hris.probe(signal)).toMatchObject({ ok: true });
  expect(logins()).toBe(2);
});

const LOGIN =
  'login: { post: /login, body: { key: "{options.secret}" }, token: body.token, carry: { x-token: "{token}" } }';
const WITH_LOGIN = DEFINITION.replace(/oauth2: .* \}(?= \}\n)/, LOGIN);
const SHOWN = DEFINITION.replace('probe:', 'said: body.message\nprobe:');
const asAuth = (auth: string): string => SHOWN.replace(/auth: .*/, `auth: ${auth}`);
const CHECKED = DEFINITION.replace('{ get: /me }', '{ get: /me, account: { at: company, is: kestrel } }');

test.for([
  ['the token endpoint', DEFINITION, '/token', 404, '"auth.oauth2.tokenPath"'],
  ['the token endpoint', DEFINITION, '/token', 410, '"auth.oauth2.tokenPath"'],
  ['the token endpoint (invalid_grant)', DEFINITION, '/token', 400, '"auth.oauth2.tokenPath"'],
  ['a login', WITH_LOGIN, '/login', 404, '"auth.login"'],
  ['the account check', CHECKED, '/me', 404, '"probe"'],
] as const)('%s that is answered with a refusal makes no employee gone', async ([, text, path, status, place]) => {
  const hris = await openKestrel(
    text,
    async (asked, say) => {
      await buffer(asked);
      if (asked.url === path) return say(status, {});
      return say(200, asked.url === '/me' ? { company: 'kestrel' } : { access_token: 't', id: '1' });
    },
    { secret: 'x' },
  );
  const { read, update } = hris.employees;
  for (const call of [() => read('1', signal), () => update('1', { familyName: 'Reyes' }, write)])
    expect(await refusal(call())).toMatchObject({
      code: 'HRIS_AUTH',
      action: 'reauthorize',
      message: expect.stringMatching(`answered ${status}.*Check ${place} of the definition`),
    });
});

test.for([
  ['wrong', 500, { ok: false }, { code: 'HRIS_AUTH', action: 'reauthorize' }],
  ['right', 500, { ok: true }, { code: 'SERVER_ERROR', action: 'retry' }],
  ['not told', 500, undefined, { code: 'SERVER_ERROR', action: 'retry' }],
  ['wrong, and the login is answered 429', 429, { ok: false }, { action: 'throttle' }],
] as const)('a login that fails: its check says that the credentials are %s', async ([, status, told, expected]) => {
  const check = 'check: { post: /check, body: { key: "{options.secret}" }, refused: body.ok = false }';
  const hris = await openKestrel(
    asAuth(`{ ${LOGIN.replace('token:', `${check}, token:`)} }`),
    ({ url }, say) => (url === '/check' ? say(told === undefined ? 500 : 200, told ?? {}) : say(status, {})),
    { secret: 'x' },
  );
  expect(await hris.probe(signal)).toMatchObject({ ok: false, error: expected });
});

const TOKEN = 'tk/Kestrel-4711+x==';
const KEY = 'key of 4711+x==';

test.for([
  ['the token of a session', asAuth(`{ ${LOGIN.replace('"{token}"', '"{token | base64}"')} }`), TOKEN, ' … /staff'],
  ['a token of OAuth', SHOWN, TOKEN, 'Bearer …  /staff'],
  ['a user and a password', asAuth('{ basic: { user: hb, password: "{options.secret}" } }'), KEY, 'Basic …  /staff'],
  ['a key in the query', asAuth('{ query: { key: "{options.secret}" } }'), KEY, '  /staff?key=…'],
] as const)('a refusal that quotes %s is shown without it', async ([, definition, secret, shown]) => {
  const hris = await openKestrel(
    definition,
    async ({ url = '', headers, method }, say) => {
      if (url === '/token' || url === '/login') return say(200, { access_token: TOKEN, token: TOKEN });
      if (method === 'GET') return say(200, []);
      const carried = [headers.authorization, headers['x-token'], url].join(' ');
      return say(422, { message: `Bearer or not: ${carried} may not write; ${secret} neither.` });
    },
    { secret: KEY },
  );
  const { message } = await refusal(hris.employees.create({ familyName: 'Reyes' }, '27:1', write));
  expect(message).toContain(`It said: "Bearer or not: ${shown} may not write; … neither."`);
});
