import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { getConnInfo } from '@hono/node-server/conninfo';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { KyselyPlugin } from 'kysely';
import * as client from 'openid-client';
import { z } from 'zod';
import { ConnectorError, rejected } from '../errors.ts';
import type { Logger } from '../log.ts';
import { actingAs, audit } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import { type Access, type Asked, type ConsoleApp, isLoopback, type OidcSettings, type Person } from './acts.ts';
import { page } from './layout.ts';

export interface AdmissionOptions {
  /** Who may enter. Without an address, the console answers only on loopback. */
  access: Pick<Access, 'tokens' | 'oidc'> & { url?: URL };
  log: Logger;
  store: Store;
  /** A monotonic clock in milliseconds; the process's own unless a test replaces it. */
  clock?: () => number;
}

/** Nothing from other hosts, no inline scripts, no frames. */
const POLICY = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'";

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Not no-referrer: a browser would then send `Origin: null` with every form.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cache-control': 'no-store',
};

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** A form may contain a whole mapping file to compare. */
const MOST_FORM_BYTES = 512_000;
/** An unused session ends after this; automatic refreshes do not count as use. */
const IDLE_MS = 30 * 60_000;
/** Every session ends after this. */
const ABSOLUTE_MS = 12 * 3_600_000;
const MOST_SESSIONS = 1_000;
/** Time allowed at the sign-in provider. */
const SIGN_IN_SECONDS = 600;

/** Checks every request in this order: our host, a known method, and forms only from our own pages. */
export function addGuards(app: ConsoleApp, { access: { url } }: AdmissionOptions): void {
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
    if (url?.protocol === 'https:') c.res.headers.set('strict-transport-security', 'max-age=31536000');
  });
  app.use(async (c, next) => {
    const host = c.req.header('host') ?? '';
    if (!isOurs(host, url)) return c.text('The console does not answer under this name.\n', 421);
    if (!['GET', 'HEAD', 'POST'].includes(c.req.method)) return c.text('Not allowed.\n', 405, { allow: 'GET, POST' });
    return c.req.method === 'POST' ? readForm(c, next, url?.origin ?? `http://${host}`) : next();
  });
}

/**
 * Without an address of its own, the console answers only to this machine's names, because DNS rebinding uses other
 * ones. Ignores the port, which differs in a tunnel.
 */
function isOurs(host: string, url: URL | undefined): boolean {
  if (url !== undefined) return host === url.host;
  const [, name = ''] = /^(.+?)(?::\d{1,5})?$/.exec(host) ?? [];
  return isLoopback(name);
}

/** Only our own pages may send a form; browsers always name the sending page. */
async function readForm(c: Asked, next: () => Promise<void>, origin: string) {
  if (!FORM_TYPE.test(c.req.header('content-type') ?? '')) return c.text('Forms only.\n', 415);
  if (c.req.header('origin') !== origin) return c.text('Sent by another page.\n', 403);
  const tooLarge = (): Response => c.text('Too large.\n', 413);
  return bodyLimit({ maxSize: MOST_FORM_BYTES, onError: tooLarge })(c, async () => {
    c.set('form', new URLSearchParams(await c.req.text()));
    await next();
  });
}

/**
 * Everything behind this needs a session, and a form also its session's token. An access token, or the provider's
 * answer, is exchanged for a session at once, so that neither remains in an address that a browser keeps.
 */
export function addSessions(app: ConsoleApp, options: AdmissionOptions): void {
  const { access, log, store, clock = () => performance.now() } = options;
  const sessions = createSessions(clock);
  const refusals = createRefusals(clock);
  const oidc = access.oidc === undefined || access.url === undefined ? undefined : createOidc(access.oidc, access.url);
  const isSecure = access.url?.protocol === 'https:';
  // Lax, so that a link in a message opens its page; a form of another site never carries it.
  const common = { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure } as const;
  const prefix = isSecure ? '__Host-' : '';
  // Cookies ignore ports: without a port in the name, two consoles on one machine would sign each other out.
  const named = (c: Asked, what: string): string =>
    `${prefix}hirebridge-${what}${isSecure ? '' : `-${/:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? '80'}`}`;
  const signIn = async (c: Asked, person: Person, to: string) => {
    await actingAs(actorOf(person), () => audit(store, { by: person.by, act: 'signed-in' }));
    sessions.close(getCookie(c, named(c, 'console')) ?? '');
    setCookie(c, named(c, 'console'), sessions.open(person), { ...common, maxAge: ABSOLUTE_MS / 1_000 });
    log.info({ by: person.by }, 'signed in');
    return c.redirect(to, 303);
  };
  const byToken = (c: Asked, given: string, to: string) => {
    const from = getConnInfo(c).remote.address ?? '';
    const seconds = refusals.secondsLeft(from);
    if (seconds > 0) {
      c.header('retry-after', String(seconds));
      return signInPage(c, { access, oidc }, 429);
    }
    const person = access.tokens.find(({ token }) => isSame(given, token));
    if (person !== undefined) return signIn(c, person, to);
    refusals.note(from);
    log.warn('sign-in refused');
    return signInPage(c, { access, oidc }, 403);
  };

  app.get('/', async (c, next) => {
    const given = c.req.query('token');
    return given === undefined ? next() : byToken(c, given, '/');
  });
  app.post('/sign-in', (c) => byToken(c, c.get('form').get('token') ?? '', ownPath(c.get('form').get('to'))));
  if (oidc !== undefined) {
    app.get('/sign-in/provider', async (c) => {
      const { to, begun } = await oidc.begin();
      const kept = JSON.stringify({ ...begun, to: ownPath(c.req.query('to')) });
      setCookie(c, named(c, 'sign-in'), kept, { ...common, maxAge: SIGN_IN_SECONDS });
      return c.redirect(to.href, 303);
    });
    app.get('/sign-in/callback', async (c) => {
      const begun = readBegun(getCookie(c, named(c, 'sign-in')));
      deleteCookie(c, named(c, 'sign-in'), common);
      return signIn(c, await oidc.finish(new URL(c.req.url), begun), ownPath(begun.to));
    });
  }
  app.use(async (c, next) => {
    const session = sessions.find(getCookie(c, named(c, 'console')) ?? '', { isUse: !isRefresh(c) });
    if (session === undefined) return signInPage(c, { access, oidc }, 401);
    c.set('viewer', session);
    if (c.req.method === 'POST' && !isSame(c.get('form').get('csrf') ?? '', session.csrf)) throw stale();
    return actingAs(session.actor, next);
  });
  app.post('/sign-out', (c) => {
    sessions.close(getCookie(c, named(c, 'console')) ?? '');
    deleteCookie(c, named(c, 'console'), common);
    return c.redirect('/', 303);
  });
}

const SignInCookie = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() });

/** The state that the browser stored when it began the sign-in; a callback that it did not begin signs nobody in. */
function readBegun(cookie: string | undefined): z.infer<typeof SignInCookie> {
  try {
    return SignInCookie.parse(JSON.parse(cookie ?? ''));
  } catch {
    throw rejected(
      'SIGN_IN_REFUSED',
      'This browser did not begin a sign-in, or took longer than ten minutes. Sign in again.',
    );
  }
}

/** Accepts only paths of this console, so that nobody is redirected elsewhere after a sign-in. */
export function ownPath(given: string | null | undefined): string {
  const base = 'http://console.invalid';
  const url = given?.startsWith('/') === true ? URL.parse(given, base) : null;
  if (url === null || url.origin !== base || url.pathname.startsWith('//')) return '/';
  return url.pathname.startsWith('/sign-') ? '/' : url.pathname + url.search;
}

function signInPage(
  c: Asked,
  { access, oidc }: { access: AdmissionOptions['access']; oidc: Oidc | undefined },
  status: 401 | 403 | 429,
) {
  const asked = c.req.method === 'POST' ? c.get('form').get('to') : c.req.path + new URL(c.req.url).search;
  const to = ownPath(asked);
  const said = WRONG[status];
  const wrong = said === undefined ? '' : html`<p class="notice bad" role="alert">${said}</p>`;
  const local = access.url === undefined;
  const byProvider =
    oidc === undefined
      ? ''
      : html`<p class="actions"><a class="button primary" href="/sign-in/provider?to=${encodeURIComponent(to)}">Sign in
  at ${oidc.at}</a></p>`;
  const where = local
    ? html`<p>Open the address that <code>hirebridge console</code> or <code>hirebridge up</code> printed, or type its
token.</p>`
    : '';
  const byToken =
    access.tokens.length === 0
      ? ''
      : html`${where}<form role="none" method="post" action="/sign-in" class="card narrow">
  <input type="hidden" name="to" value="${to}">
  <label>Token<input type="password" name="token" required autocomplete="off"></label>
  <p class="actions"><button class="${oidc === undefined ? 'primary' : ''}">Sign in</button></p>
</form>`;
  return page(c, 'Sign in', html`${wrong}${byProvider}${byToken}`, { status });
}

const WRONG: Readonly<Record<number, string>> = {
  403: 'This console does not know this token.',
  429: 'Too many wrong tokens came from this address. Wait a minute, and try again.',
};

/** A token's name is no subject, so its identity says what it is. */
function actorOf({ by, actor = `token:${by}` }: Person): string {
  return actor;
}

/** Wrong tokens from one address within the time, after which it has to wait for the rest of that time. */
const MOST_WRONG = 10;
const WRONG_MS = 60_000;
const MOST_ADDRESSES = 10_000;

/** Counts wrong tokens by address, so that nobody can try many. */
function createRefusals(clock: () => number) {
  const known = new Map<string, { count: number; until: number }>();
  const keptOf = (address: string) => {
    const kept = known.get(address);
    return kept !== undefined && clock() < kept.until ? kept : { count: 0, until: clock() + WRONG_MS };
  };
  return {
    secondsLeft(address: string): number {
      const { count, until } = keptOf(address);
      return count < MOST_WRONG ? 0 : Math.ceil((until - clock()) / 1_000);
    },
    note(address: string): void {
      const { count, until } = keptOf(address);
      known.delete(address);
      known.set(address, { count: count + 1, until });
      const [oldest] = known.keys();
      if (known.size > MOST_ADDRESSES && oldest !== undefined) known.delete(oldest);
    },
  };
}

interface Session extends Person {
  actor: string;
  csrf: string;
}

/** Sessions are only in memory, by the digest of their id; a new one may replace the oldest. */
function createSessions(clock: () => number) {
  const known = new Map<string, { session: Session; idleUntil: number; until: number }>();
  const keyOf = (id: string): string => hash('sha256', id);
  return {
    /** Always makes a new id, so that an id planted in the browser before is worthless. */
    open(person: Person): string {
      const [oldest] = known.keys();
      if (known.size >= MOST_SESSIONS && oldest !== undefined) known.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      const { by, grants } = person;
      const session = { by, actor: actorOf(person), grants, csrf: randomBytes(32).toString('base64url') };
      known.set(keyOf(id), { session, idleUntil: clock() + IDLE_MS, until: clock() + ABSOLUTE_MS });
      return id;
    },
    find(id: string, { isUse }: { isUse: boolean }): Session | undefined {
      const kept = known.get(keyOf(id));
      if (kept === undefined) return undefined;
      if (clock() >= Math.min(kept.idleUntil, kept.until)) {
        known.delete(keyOf(id));
        return undefined;
      }
      if (isUse) kept.idleUntil = clock() + IDLE_MS;
      return kept.session;
    },
    close(id: string): void {
      known.delete(keyOf(id));
    },
  };
}

/** Compares in constant time, using digests of equal length. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'));
}

function stale(): ConnectorError {
  return rejected(
    'CONSOLE_FORM_STALE',
    'This form does not belong to your session, and nothing was done. Load the page again, then repeat it.',
  );
}

type Oidc = ReturnType<typeof createOidc>;

/**
 * Signs in through a provider: authorization code with PKCE, state and nonce. The library checks issuer, audience,
 * nonce and times of the ID token and, because it is told to, its signature; an unsigned token is refused.
 */
function createOidc(settings: OidcSettings, url: URL) {
  const redirectUri = new URL('/sign-in/callback', url).href;
  let discovered: Promise<client.Configuration> | undefined;
  const configuration = (): Promise<client.Configuration> => {
    discovered ??= discover(settings).catch((error: unknown) => {
      // Try again at the next sign-in: the provider may have been down for a moment.
      discovered = undefined;
      throw unreachable(settings, error);
    });
    return discovered;
  };
  return {
    /** The provider's name for display. */
    at: new URL(settings.issuer).host,
    async begin() {
      // Stored in the browser that begins a sign-in, and checked when it returns.
      const begun = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const to = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
      });
      return { to, begun };
    },
    /** @throws ConnectorError SIGN_IN_REFUSED, NO_ROLE */
    async finish({ search }: URL, { state, nonce, verifier }: z.infer<typeof SignInCookie>): Promise<Person> {
      const config = await configuration();
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(redirectUri + search), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const own = tokens.claims();
        if (own === undefined) throw new Error('the provider gave no ID token');
        const asked = config.serverMetadata().userinfo_endpoint !== undefined;
        const told = asked ? await client.fetchUserInfo(config, tokens.access_token, own.sub) : {};
        return personOf(settings, { ...told, ...own });
      } catch (error) {
        throw error instanceof ConnectorError ? error : refused(error);
      }
    },
  };
}

const REQUEST_SECONDS = 10;

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
  const isLocal = isLoopback(new URL(issuer).hostname);
  const config = await client.discovery(
    new URL(issuer),
    clientId,
    {},
    clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
    { execute: isLocal ? [client.allowInsecureRequests] : [], timeout: REQUEST_SECONDS },
  );
  client.enableNonRepudiationChecks(config);
  return config;
}

/** The person, with the file's grants for them. An e-mail address that its owner never verified does not count. */
function personOf({ issuer, name, roles }: OidcSettings, claims: Readonly<Record<string, unknown>>): Person {
  const valuesOf = (claim: string): unknown[] => {
    if (claim === 'email' && claims['email_verified'] !== true) return [];
    return [claims[claim]].flat();
  };
  const [by] = valuesOf(name);
  const grants = roles.filter(({ claim, value }) => valuesOf(claim).includes(value));
  if (typeof by === 'string' && by !== '' && grants.length > 0)
    return {
      by,
      actor: `oidc:${issuer}#${String(claims['sub'])}`,
      grants: grants.map(({ role, tenants }) => ({ role, tenants })),
    };
  throw rejected(
    'NO_ROLE',
    grants.length > 0
      ? `The provider names nobody: its claim ${name} is missing${name === 'email' ? ', or not verified' : ''}. ` +
          'Name another claim in oidc.name of the access file.'
      : 'You are signed in, but have no role here. Ask an admin to add one of your claims to oidc.roles of the ' +
          'access file.',
  );
}

function refused(cause: unknown): ConnectorError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return rejected(
    'SIGN_IN_REFUSED',
    `The answer of the sign-in provider was refused (${code}), and nobody was signed in. Sign in again.`,
    { cause },
  );
}

function unreachable({ issuer }: OidcSettings, cause: unknown): ConnectorError {
  return new ConnectorError({
    code: 'SIGN_IN_UNREACHABLE',
    action: 'retry',
    message: `The sign-in provider at ${new URL(issuer).host} does not answer correctly. Try again in a moment.`,
    cause,
  });
}

/** Limit for the store's cost of all refreshing pages together, in statements per second. */
const STATEMENTS_PER_SECOND = 15;
/** This many at once, after a pause. */
const BURST = 60;

/** A page that refreshes itself sends this header. */
const HEADER = 'x-hirebridge-refresh';

export function isRefresh(c: Asked): boolean {
  return c.req.header(HEADER) !== undefined;
}

/**
 * Gives each request a store that counts its statements, and lets pages refresh only while all of them together stay
 * within the limit: if more pages are open, each refreshes less often, and the store's load stays the same. A person's
 * own requests are counted but never refused.
 */
export function addBoundedStore(app: ConsoleApp, store: Store, clock = () => performance.now()): void {
  let left = BURST;
  let filledAt = clock();
  app.use(async (c, next) => {
    left = Math.min(BURST, left + ((clock() - filledAt) / 1_000) * STATEMENTS_PER_SECOND);
    filledAt = clock();
    if (isRefresh(c) && left <= 0) {
      const seconds = Math.ceil(-left / STATEMENTS_PER_SECOND) + 1;
      return c.text('Too many pages are open. Try again later.\n', 429, { 'retry-after': String(seconds) });
    }
    const counted = { statements: 0 };
    c.set('store', { ...store, kysely: store.kysely.withPlugin(countStatements(counted)) });
    await next();
    if (isRefresh(c)) left -= counted.statements;
    c.res.headers.set('server-timing', `statements;desc="${counted.statements}"`);
    return undefined;
  });
}

function countStatements(counted: { statements: number }): KyselyPlugin {
  return {
    transformQuery({ node }) {
      counted.statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
}
