import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { ConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Asked, type ConsoleApp, type ConsoleEnv, page, type Viewer } from './layout.ts';

export interface AdmissionOptions {
  /** Whoever has it may come in. */
  token: string;
  by: string;
  readOnly: boolean;
  log: Logger;
}

/** Nothing of another host, no script in a page, no frame around one. */
const POLICY = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'";

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Not no-referrer: a browser would then send `Origin: null` with every form.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The port is not looked at: DNS rebinding comes with a name, and a tunnel with another port. */
const HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d{1,5}))?$/;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MOST_FORM_BYTES = 64_000;
const SESSION_SECONDS = 12 * 3_600;
const MOST_SESSIONS = 100;

/** What every request must be, in this order: of this host, of a known method, and a form of our own page. */
export function addGuards(app: ConsoleApp): void {
  app.use(withHeaders);
  app.use(async (c, next) => {
    if (!HOST.test(c.req.header('host') ?? '')) return c.text('The console answers on loopback only.\n', 421);
    if (!['GET', 'HEAD', 'POST'].includes(c.req.method)) return c.text('Not allowed.\n', 405, { allow: 'GET, POST' });
    return c.req.method === 'POST' ? readForm(c, next) : next();
  });
}

/**
 * Everything behind it is for who is signed in, and a form also brings the token of its session. The access token is
 * exchanged for a session at once, so that it stands in no address that a browser keeps.
 */
export function addSessions(app: ConsoleApp, options: AdmissionOptions): void {
  const { token, by, readOnly, log } = options;
  const sessions = createSessions();
  const signIn = (c: Asked) => {
    setCookie(c, cookieName(c), sessions.open(), {
      path: '/',
      httpOnly: true,
      sameSite: 'Strict',
      maxAge: SESSION_SECONDS,
    });
    log.info({ by }, 'signed in');
    return c.redirect('/', 303);
  };

  app.get('/', async (c, next) => {
    const given = c.req.query('token');
    if (given === undefined) return next();
    return isSame(given, token) ? signIn(c) : refused(c, log);
  });
  app.post('/sign-in', (c) => (isSame(c.get('form').get('token') ?? '', token) ? signIn(c) : refused(c, log)));
  app.use(async (c, next) => {
    const csrf = sessions.find(getCookie(c, cookieName(c)) ?? '');
    if (csrf === undefined) return signInPage(c, 401);
    c.set('viewer', { by, readOnly, csrf } satisfies Viewer);
    if (c.req.method !== 'POST') return next();
    if (!isSame(c.get('form').get('csrf') ?? '', csrf)) throw stale();
    if (readOnly && c.req.path !== '/sign-out') throw isReadOnly();
    return next();
  });
  app.post('/sign-out', (c) => {
    sessions.close(getCookie(c, cookieName(c)) ?? '');
    deleteCookie(c, cookieName(c), { path: '/' });
    return c.redirect('/', 303);
  });
}

const withHeaders: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
};

/** Only our own page may send a form: a browser always says whose page it was. */
const readForm: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  if (!FORM_TYPE.test(c.req.header('content-type') ?? '')) return c.text('Forms only.\n', 415);
  if (c.req.header('origin') !== `http://${c.req.header('host')}`) return c.text('Sent by another page.\n', 403);
  const tooLarge = (): Response => c.text('Too large.\n', 413);
  return bodyLimit({ maxSize: MOST_FORM_BYTES, onError: tooLarge })(c, async () => {
    c.set('form', new URLSearchParams(await c.req.text()));
    await next();
  });
};

/** Cookies know no ports: two consoles of one machine would sign each other out. */
function cookieName(c: Asked): string {
  return `hirebridge-console-${HOST.exec(c.req.header('host') ?? '')?.[1] ?? '80'}`;
}

function refused(c: Asked, log: Logger) {
  log.warn('sign-in refused');
  return signInPage(c, 403);
}

function signInPage(c: Asked, status: 401 | 403) {
  const wrong =
    status === 403 ? html`<p class="notice bad" role="alert">This token is not the one of this console.</p>` : '';
  return page(
    c,
    'Sign in',
    html`${wrong}
<p>Open the address that <code>hirebridge console</code> or <code>hirebridge up</code> printed, or type its token.</p>
<form method="post" action="/sign-in" class="card narrow">
  <label>Token<input type="password" name="token" required autocomplete="off"></label>
  <p class="actions"><button class="primary">Sign in</button></p>
</form>`,
    status,
  );
}

/** Sessions are kept in memory alone, by the digest of their id; the oldest makes room. */
function createSessions() {
  const known = new Map<string, { csrf: string; until: number }>();
  const keyOf = (id: string): string => hash('sha256', id);
  return {
    open(): string {
      const [oldest] = known.keys();
      if (known.size >= MOST_SESSIONS && oldest !== undefined) known.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      known.set(keyOf(id), {
        csrf: randomBytes(32).toString('base64url'),
        until: performance.now() + SESSION_SECONDS * 1_000,
      });
      return id;
    },
    /** The token of its forms. */
    find(id: string): string | undefined {
      const session = known.get(keyOf(id));
      return session !== undefined && session.until > performance.now() ? session.csrf : undefined;
    },
    close(id: string): void {
      known.delete(keyOf(id));
    },
  };
}

/** In constant time: digests of one length are compared. */
function isSame(given: string, wanted: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'));
}

function stale(): ConnectorError {
  return new ConnectorError({
    code: 'CONSOLE_FORM_STALE',
    action: 'reject',
    message: 'This form is not of your session, and nothing was done. Load the page again, then repeat it.',
  });
}

function isReadOnly(): ConnectorError {
  return new ConnectorError({
    code: 'CONSOLE_READ_ONLY',
    action: 'reject',
    message: 'This console is read only, and nothing was done. Start it without --read-only, or use the command.',
  });
}
