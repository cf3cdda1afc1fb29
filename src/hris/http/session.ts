import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import { cellText } from '../read-cell.ts';
import { readPath, rendered, type Values } from './expression.ts';
import type { CallPlan, HttpDefinition } from './load-definition.ts';

type AuthPlan = HttpDefinition['authorizing'];

/** What each call carries to be authorised. */
export interface Carried {
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** What is secret of it, in each form in which the system may quote it. */
  secrets?: readonly string[];
}

/** A token is replaced this long before it expires, or at half of its life if that is shorter. */
const EARLY_MS = 30_000;
/** Refused credentials are not tried again for this long: some systems lock an account after a few tries. */
const REFUSED_MS = 60_000;
const LOGIN_MS = 60_000;

/** Makes the call of a login; it may be repeated. */
type Login = (plan: CallPlan, signal: AbortSignal) => Promise<{ body: unknown }>;

export function openSession(auth: AuthPlan, own: Values, send: Login) {
  if (auth.kind === 'headers') {
    const carried = carrying({ headers: rendered(auth.headers, own), query: rendered(auth.query, own) });
    return { carried: async () => carried, renew: () => false };
  }
  let current: { carried: Promise<Carried>; until: number } | undefined;
  let refused: { error: unknown; until: number } | undefined;
  let latest: Carried | undefined;
  // Several callers wait for one login, so none of their signals aborts it.
  const begin = (): NonNullable<typeof current> => {
    const signal = AbortSignal.timeout(LOGIN_MS);
    const made = { until: Number.POSITIVE_INFINITY, carried: Promise.resolve<Carried>({}) };
    made.carried = logIn(auth, own, (plan) => send(plan, signal)).then(
      ({ carried, lastsMs }) => {
        latest = carried;
        made.until = lastsMs === undefined ? made.until : performance.now() + Math.max(lastsMs - EARLY_MS, lastsMs / 2);
        return carried;
      },
      (error: unknown) => {
        current = undefined;
        if (isConnectorError(error) && error.action !== 'retry')
          refused = { error, until: performance.now() + REFUSED_MS };
        throw error;
      },
    );
    return made;
  };
  return {
    async carried(): Promise<Carried> {
      if (refused !== undefined && refused.until > performance.now()) throw refused.error;
      refused = undefined;
      if (current === undefined || current.until <= performance.now()) current = begin();
      return current.carried;
    },
    /** Forgets refused credentials; false if logging in again would change nothing. */
    renew(given: Carried): boolean {
      // A caller refused with earlier credentials only needs to ask again.
      if (given === latest) {
        current = undefined;
        latest = undefined;
      }
      return true;
    },
  };
}

/**
 * Where tokens come from, if that is not the HR system itself: many have a server for the logins of all customers.
 * @throws ConnectorError HRIS_OPTIONS_INVALID
 */
export function loginOrigin(auth: AuthPlan, own: Values): string | undefined {
  if (auth.kind === 'headers') return undefined;
  const address = auth.kind === 'login' ? String(auth.call.path(own, encodeURIComponent)) : tokenPathOf(auth, own);
  if (address.startsWith('/')) return undefined;
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
  throw rejected(
    'HRIS_OPTIONS_INVALID',
    '"auth.oauth2.tokenPath" of the definition is neither a path nor an address with the options of this tenant. ' +
      'Correct the options under hris.',
  );
}

/** An option may be the beginning of the address. */
function tokenPathOf({ texts }: Extract<AuthPlan, { kind: 'oauth2' }>, own: Values): string {
  return String(texts.tokenPath(own, (text) => (/^https?:\/\//.test(text) ? text : encodeURIComponent(text))));
}

/** The value of a header without its scheme (`Bearer`), and that of a query also as an address has it. */
function carrying(carried: Carried, ...tokens: string[]): Carried {
  const { headers = {}, query = {} } = carried;
  const inHeaders = Object.values(headers).map((value) => value.replace(/^\S+ +/, ''));
  const inQuery = Object.values(query).flatMap((value) => [
    value,
    new URLSearchParams([['', value]]).toString().slice(1),
  ]);
  return { ...carried, secrets: [...tokens, ...inHeaders, ...inQuery] };
}

/** How long the account is believed: a key may be moved to another one. */
const ACCOUNT_MS = 60_000;

/**
 * Lets nothing be sent with credentials of another account than the definition expects.
 * @throws ConnectorError HRIS_OTHER_ACCOUNT, from both functions
 */
export function openAccountCheck(
  { account, probing }: Pick<HttpDefinition, 'account' | 'probing'>,
  own: Values,
  ask: (carried: Carried, signal: AbortSignal) => Promise<{ body: unknown }>,
) {
  let last: { carried: Carried; until: number; answer: Promise<void> } | undefined;
  const judge = async ({ body }: { body: unknown }): Promise<void> => {
    if (account === undefined) return;
    const [shown, wanted] = [cellText(await account.at(body)), cellText(account.is(own))];
    if (shown !== wanted || wanted === '') throw ofAnotherAccount(probing.what);
  };
  return {
    judge,
    /** Asks, unless these credentials were asked about a moment ago. */
    async assure(carried: Carried): Promise<void> {
      if (account === undefined) return undefined;
      if (last?.carried === carried && last.until > performance.now()) return last.answer;
      // Several callers wait for one answer, so none of their signals aborts it.
      const answer = ask(carried, AbortSignal.timeout(LOGIN_MS)).then(judge);
      const made = { carried, until: performance.now() + ACCOUNT_MS, answer };
      last = made;
      answer.catch(() => {
        if (last === made) last = undefined;
      });
      return answer;
    },
  };
}

function ofAnotherAccount(what: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_OTHER_ACCOUNT',
    action: 'reauthorize',
    message:
      `The answer to ${what} shows that these credentials belong to another account of the HR system. Nothing is ` +
      'read or written with them. Replace the credentials, or correct what "probe.account" of the definition is ' +
      'compared with.',
  });
}

async function logIn(
  auth: Exclude<AuthPlan, { kind: 'headers' }>,
  own: Values,
  send: (plan: CallPlan) => ReturnType<Login>,
): Promise<{ carried: Carried; lastsMs?: number }> {
  if (auth.kind === 'login') {
    const answer = await send(auth.call).catch(async (error: unknown) => {
      throw (await isRefused(auth, error, send)) ? refusedLogin(auth.call.what) : error;
    });
    const token = await auth.token(answer);
    if (token === undefined || token === null || token === '') throw noToken(auth.call.what);
    return { carried: carrying({ headers: rendered(auth.headers, { ...own, token }) }, cellText(token)) };
  }
  const texts = rendered(auth.texts, own);
  const { clientId = '', clientSecret = '', scope, refreshToken } = texts;
  const inBody = auth.credentials === 'body' ? { client_id: clientId, client_secret: clientSecret } : {};
  const form = {
    grant_type: auth.grant,
    ...(scope === undefined ? {} : { scope }),
    ...(auth.grant === 'refresh_token' && refreshToken !== undefined ? { refresh_token: refreshToken } : {}),
    ...inBody,
  };
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  const plan: CallPlan = {
    what: 'POST the token endpoint',
    purpose: 'auth.oauth2.tokenPath',
    at: '',
    method: 'POST',
    path: () => tokenPathOf(auth, own),
    query: {},
    headers: {
      'content-type': () => 'application/x-www-form-urlencoded',
      ...(auth.credentials === 'basic' ? { authorization: () => `Basic ${basic}` } : {}),
    },
    body: () => form,
    paging: undefined,
  };
  const { body } = await send(plan);
  const token = readPath(body, [{ name: 'access_token' }]);
  const seconds = Number(readPath(body, [{ name: 'expires_in' }]));
  if (typeof token !== 'string' || token === '') throw noToken(plan.what);
  return {
    carried: carrying({ headers: { authorization: `Bearer ${token}` } }),
    ...(seconds > 0 ? { lastsMs: seconds * 1_000 } : {}),
  };
}

/** Whether a login failed, as by an error of the server, because the credentials are wrong. */
async function isRefused(
  { check }: Extract<AuthPlan, { kind: 'login' }>,
  error: unknown,
  send: (plan: CallPlan) => ReturnType<Login>,
): Promise<boolean> {
  if (check === undefined || !isConnectorError(error) || (error.status ?? 0) < 500) return false;
  const answer = await send(check).catch(() => undefined);
  return answer !== undefined && (await check.refused(answer)) === true;
}

function refusedLogin(what: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_AUTH',
    action: 'reauthorize',
    message: `${what} failed: the HR system refuses these credentials. Check the user and the secret under hris.`,
  });
}

function noToken(what: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_AUTH',
    action: 'reauthorize',
    message: `${what} was answered without a token. Check "auth" of the definition, and the credentials.`,
  });
}
