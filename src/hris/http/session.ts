import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { AuthPlan, CallPlan } from './definition.ts';
import { readPath } from './expression.ts';
import { rendered, type Values } from './template.ts';

/** What each call carries to be authorised. */
export interface Carried {
  headers?: Record<string, string>;
  query?: Record<string, string>;
}

export interface Session {
  carried(): Promise<Carried>;
  /** Forgets refused credentials; false if logging in again would change nothing. */
  renew(refused: Carried): boolean;
}

/** A token is replaced this long before it expires. */
const EARLY_MS = 30_000;
/** Refused credentials are not tried again for this long: some systems lock an account after a few tries. */
const REFUSED_MS = 60_000;
const LOGIN_MS = 60_000;

/** Makes the call of a login; it may be repeated. */
type Login = (plan: CallPlan, signal: AbortSignal) => Promise<{ body: unknown }>;

export function openSession(auth: AuthPlan, own: Values, send: Login): Session {
  if (auth.kind === 'headers') {
    const carried = { headers: rendered(auth.headers, own), query: rendered(auth.query, own) };
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
        made.until = lastsMs === undefined ? made.until : performance.now() + lastsMs - EARLY_MS;
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
    async carried() {
      if (refused !== undefined && refused.until > performance.now()) throw refused.error;
      refused = undefined;
      if (current === undefined || current.until <= performance.now()) current = begin();
      return current.carried;
    },
    renew(given) {
      // A caller refused with earlier credentials only needs to ask again.
      if (given === latest) {
        current = undefined;
        latest = undefined;
      }
      return true;
    },
  };
}

type LoginPlan = Exclude<AuthPlan, { kind: 'headers' }>;

async function logIn(
  auth: LoginPlan,
  own: Values,
  send: (plan: CallPlan) => ReturnType<Login>,
): Promise<{ carried: Carried; lastsMs?: number }> {
  if (auth.kind === 'login') {
    const answer = await send(auth.call);
    const token = await auth.token(answer);
    if (token === undefined || token === null || token === '') throw noToken(auth.call.what);
    return { carried: { headers: rendered(auth.headers, { ...own, token }) } };
  }
  const texts = rendered(auth.texts, own);
  const { clientId = '', clientSecret = '', scope, refreshToken, tokenPath = '/' } = texts;
  const inBody = auth.credentials === 'body' ? { client_id: clientId, client_secret: clientSecret } : {};
  const form = {
    grant_type: auth.grant,
    ...(scope === undefined ? {} : { scope }),
    ...(auth.grant === 'refresh_token' && refreshToken !== undefined ? { refresh_token: refreshToken } : {}),
    ...inBody,
  };
  const encoded = (text: string): string => encodeURIComponent(text);
  const basic = Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64');
  const plan: CallPlan = {
    what: 'POST the token endpoint',
    purpose: 'auth.oauth2',
    at: '',
    method: 'POST',
    path: () => tokenPath,
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
    carried: { headers: { authorization: `Bearer ${token}` } },
    ...(seconds > 0 ? { lastsMs: seconds * 1_000 } : {}),
  };
}

function noToken(what: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_AUTH',
    action: 'reauthorize',
    message: `${what} was answered without a token. Check "auth" of the definition, and the credentials.`,
  });
}
