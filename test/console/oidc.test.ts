import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Access, readAccess } from '../../src/console/acts.ts';
import { freePort } from '../../src/free-port.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { type OpenConsole, openConsole } from './open-console.ts';

const SECRET = 'a-client-secret-of-a-test-0123456789abcdef';
const CLIENT = 'hirebridge';

type Claims = Record<string, unknown>;
type Forge = (payload: JWTPayload) => string | Promise<string>;

interface RunningProvider {
  issuer: string;
  key: CryptoKey;
  /** Puts another ID token into the next answers. */
  forge: Forge | undefined;
}

let keys: { privateKey: CryptoKey };
beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A real provider; its token endpoint can be made to lie, as somebody who sits there could. */
async function startProvider(consoleUrl: string, claims: Claims, secret = SECRET): Promise<RunningProvider> {
  const running: RunningProvider = { issuer: '', key: keys.privateKey, forge: undefined };
  let answer: ReturnType<Provider['callback']> = () => Promise.resolve();
  const server = createServer((request, response) => {
    if (running.forge === undefined || request.url !== '/token') return void answer(request, response);
    const end = response.end.bind(response);
    response.end = ((body: Buffer | string) => {
      void forged(String(body)).then((text) => {
        response.setHeader('content-length', Buffer.byteLength(text));
        end(text);
      });
      return response;
    }) as typeof response.end;
    return void answer(request, response);
  });
  const forged = async (body: string): Promise<string> => {
    const tokens = JSON.parse(body) as { id_token: string };
    const payload = JSON.parse(Buffer.from(tokens.id_token.split('.')[1] ?? '', 'base64url').toString()) as JWTPayload;
    return JSON.stringify({ ...tokens, id_token: await running.forge?.(payload) });
  };
  running.issuer = await listen(server);
  const configuration: Configuration = {
    clients: [{ client_id: CLIENT, client_secret: secret, redirect_uris: [`${consoleUrl}/sign-in/callback`] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...claims }) }),
    jwks: { keys: [{ ...(await exportJWK(keys.privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }] },
    cookies: { keys: ['of-a-test'] },
    features: { devInteractions: { enabled: true } },
  };
  const provider = new Provider(running.issuer, configuration);
  answer = provider.callback();
  return running;
}

const ROLES = [
  { claim: 'groups', value: 'hr-platform', role: 'admin', tenants: 'all' },
  { claim: 'email', value: 'jo@acme.example', role: 'operator', tenants: ['acme'] },
] as const;

/** A console that lets people in through a provider of its own. */
async function openBoth(
  claims: Claims,
  { ours = SECRET, theirs = SECRET }: { ours?: string; theirs?: string } = {},
): Promise<{ open: OpenConsole; provider: RunningProvider }> {
  // The provider must know the console's address, and the console the provider's.
  const port = await freePort();
  const url = new URL(`http://127.0.0.1:${port}`);
  const provider = await startProvider(url.origin, claims, theirs);
  const oidc: Access['oidc'] = {
    issuer: provider.issuer,
    clientId: CLIENT,
    clientSecret: ours,
    scope: 'openid email groups',
    name: 'email',
    roles: ROLES.map((role) => ({ ...role, tenants: role.tenants === 'all' ? 'all' : [...role.tenants] })),
  };
  const open = await openConsole({ port, access: { url, tokens: [], oidc } });
  return { open, provider };
}

/** What a browser does: keeps cookies by host and port, follows redirects, fills in the provider's two forms. */
function createBrowser() {
  const jar = new Map<string, Map<string, string>>();
  const seen: string[] = [];
  const cookiesOf = (url: URL): Map<string, string> => {
    const known = jar.get(url.host) ?? new Map<string, string>();
    jar.set(url.host, known);
    return known;
  };
  const go = async (address: string, form?: Record<string, string>): Promise<Response & { at: URL }> => {
    let [url, body] = [new URL(address), form];
    for (;;) {
      seen.push(url.href);
      const cookie = [...cookiesOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');
      const sent = body === undefined ? {} : { method: 'POST', body: new URLSearchParams(body) };
      const response = await fetch(url, { ...sent, redirect: 'manual', headers: { cookie, origin: url.origin } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) cookiesOf(url).delete(name);
        else cookiesOf(url).set(name, value);
      }
      const to = response.headers.get('location');
      if (to === null) return Object.assign(response, { at: url });
      [url, body] = [new URL(to, url), undefined];
    }
  };
  /** From the console to the provider and through both of its forms; the last answer. */
  const signIn = async (consoleUrl: string, to = '/'): Promise<Response & { at: URL }> => {
    let answer = await go(`${consoleUrl}/sign-in/provider?to=${encodeURIComponent(to)}`);
    for (const form of [{ prompt: 'login', login: 'jo', password: 'x' }, { prompt: 'consent' }]) {
      if (!answer.at.pathname.startsWith('/interaction/')) break;
      answer = await go(answer.at.href, form as unknown as Record<string, string>);
    }
    return answer;
  };
  return { go, signIn, jar, seen };
}

const JO = { email: 'jo@acme.example', email_verified: true, groups: ['staff'] };

test('somebody signs in at a real provider, has the page they asked for and the roles of their claims', async () => {
  const { open } = await openBoth(JO);
  const browser = createBrowser();
  const asked = await browser.go(`${open.url}/holds?code=NO_SHOW`);
  expect([asked.status, await asked.text()]).toEqual([401, expect.stringContaining('/sign-in/provider?to=%2Fholds')]);
  const answer = await browser.signIn(open.url, '/holds?code=NO_SHOW');
  expect([answer.status, answer.at.pathname + answer.at.search]).toEqual([200, '/holds?code=NO_SHOW']);
  const text = await answer.text();
  expect(text).toContain('Signed in as jo@acme.example');
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  expect((await browser.go(`${open.url}/tenants/acme/freeze`, { csrf })).status).toBe(200);
  expect((await browser.go(`${open.url}/freeze`, { csrf })).status).toBe(403);
  const rows = await open.store.kysely.selectFrom('audit').select(['by', 'act', 'actor']).execute();
  const actor = expect.stringMatching(/^oidc:http:.+#.+/) as string;
  expect(rows).toEqual(['signed-in', 'frozen'].map((act) => ({ by: 'jo@acme.example', act, actor })));
  expect((await browser.go(`${open.url}/sign-out`, { csrf })).status).toBe(401);
});

test('an admin of the provider’s group may do everything', async () => {
  const { open } = await openBoth({ ...JO, groups: ['hr-platform'] });
  const browser = createBrowser();
  const text = await (await browser.signIn(open.url)).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  expect((await browser.go(`${open.url}/freeze`, { csrf })).status).toBe(200);
});

test('another client secret at the provider: nobody signs in until a console begins with it', async () => {
  const theirs = 'the-next-client-secret-0123456789abcdef';
  const late = await openBoth(JO, { theirs });
  expect((await createBrowser().signIn(late.open.url)).status).toBe(403);
  const file = join(await scratchFolder(), 'console.yaml');
  const role = '{ claim: email, value: jo@acme.example, role: viewer, tenants: all }';
  const oidc = `{ issuer: "http://127.0.0.1:1", clientId: hb, clientSecret: file:client.secret, roles: [${role}] }`;
  await writeFile(file, `url: http://127.0.0.1:1\noidc: ${oidc}\n`);
  await writeFile(join(file, '../client.secret'), `${theirs}\n`);
  const ours = (await readAccess(file)).oidc?.clientSecret ?? '';
  const begun = await openBoth(JO, { theirs, ours });
  expect((await createBrowser().signIn(begun.open.url)).status).toBe(200);
});

test.each([
  ['whose address nobody verified', { ...JO, email_verified: false }, 'have no role'],
  ['whom no claim gives a role', { ...JO, email: 'eve@evil.example' }, 'have no role'],
  ['whom the provider does not name', { groups: ['hr-platform'] }, 'names nobody'],
])('somebody %s is signed in by the provider, and comes in nowhere', async (_who, claims, said) => {
  const { open } = await openBoth(claims);
  const browser = createBrowser();
  const answer = await browser.signIn(open.url);
  expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(said)]);
  expect((await browser.go(open.url)).status).toBe(401);
});

const sign = (payload: JWTPayload, key: CryptoKey | Uint8Array = keys.privateKey, alg = 'RS256'): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg, kid: 'one' }).sign(key);

function without(claim: string, payload: JWTPayload): JWTPayload {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => name !== claim));
}

const now = (): number => Math.floor(Date.now() / 1_000);

test.each<[string, Forge]>([
  ['of another issuer', (payload) => sign({ ...payload, iss: 'https://evil.example' })],
  ['for another audience', (payload) => sign({ ...payload, aud: 'another-client' })],
  ['for several audiences, asked for by another', (payload) => sign({ ...payload, aud: [CLIENT, 'x'], azp: 'x' })],
  ['with another nonce', (payload) => sign({ ...payload, nonce: 'another' })],
  ['without a nonce', (payload) => sign(without('nonce', payload))],
  ['that has expired', (payload) => sign({ ...payload, iat: now() - 7_200, exp: now() - 3_600 })],
  ['without a time of its end', (payload) => sign(without('exp', payload))],
  ['of another person', (payload) => sign({ ...payload, sub: 'somebody-else' })],
  ['without a signature, alg none', (payload) => new UnsecuredJWT(payload).encode()],
  [
    'signed with the key of somebody else',
    async (payload) => sign(payload, (await generateKeyPair('RS256')).privateKey),
  ],
  ['signed with the client secret instead of a key', (payload) => sign(payload, Buffer.from(SECRET), 'HS256')],
  ['whose signature was cut off', async (payload) => `${(await sign(payload)).split('.').slice(0, 2).join('.')}.`],
])('an ID token %s signs nobody in', async (_what, forge) => {
  const { open, provider } = await openBoth(JO);
  provider.forge = forge;
  const browser = createBrowser();
  const answer = await browser.signIn(open.url);
  expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('was refused')]);
  expect((await browser.go(open.url)).status).toBe(401);
  provider.forge = (payload) => sign(payload);
  expect((await browser.signIn(open.url)).status).toBe(200);
});

test('an answer of the provider is taken once, only by the browser that asked, and with its own state', async () => {
  const { open } = await openBoth(JO);
  const browser = createBrowser();
  await browser.signIn(open.url);
  const callback = browser.seen.find((url) => url.includes('/sign-in/callback')) ?? '';
  const replayed = await browser.go(callback);
  expect([replayed.status, await replayed.text()]).toEqual([403, expect.stringContaining('did not begin a sign-in')]);
  // Somebody lets another browser finish a sign-in that is theirs.
  const victim = createBrowser();
  expect((await victim.go(callback)).status).toBe(403);
  const begun = await fetch(`${open.url}/sign-in/provider`, { redirect: 'manual' });
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const wrong = await fetch(callback.replace(/state=[^&]+/, 'state=another'), {
    headers: { cookie },
    redirect: 'manual',
  });
  expect([wrong.status, wrong.headers.getSetCookie().join('')]).toEqual([403, expect.not.stringContaining('console')]);
});

test('a provider that is away is said, and asked again', async () => {
  const url = new URL(`http://127.0.0.1:${await freePort()}`);
  const oidc = { issuer: 'http://127.0.0.1:1', clientId: CLIENT, clientSecret: SECRET, scope: 'openid', name: 'sub' };
  const access = { url, tokens: [], oidc: { ...oidc, roles: [] } };
  const open = await openConsole({ port: Number(url.port), access });
  const answer = await fetch(`${open.url}/sign-in/provider`, { redirect: 'manual' });
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('does not answer correctly')]);
});
