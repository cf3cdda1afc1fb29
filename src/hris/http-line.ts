import pLimit from 'p-limit';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { type HttpAnswer, type HttpRequest, httpError, readRetryAfter } from '../http/http-error.ts';
import { openPool } from '../http/pool.ts';
import { sendRequest } from '../http/request.ts';
import {
  acquirePermit,
  type Priority,
  type RateLimitKeeper,
  sendOnPermit,
  unlimited,
} from '../rate-limit/rate-limit.ts';
import { decimalValue } from '../values/transforms.ts';

/** The rate limit of one tenant at its HRIS; an endpoint that is limited separately has its own. */
export type HrisLimits = (endpoint?: string) => RateLimitKeeper;

export const noLimits: HrisLimits = () => unlimited;

/** The connection to an HRIS over HTTP: several requests at once, each with a permit of its rate limit. */
export interface HrisLine {
  /** The path of the address, which is put before every path. */
  base: string;
  send(request: LineRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface LineRequest extends HttpRequest {
  /** Set if the endpoint has its own rate limit: a login, for example. */
  endpoint?: string | undefined;
  /** `live` by default, because a hire waits for it. */
  priority?: Priority | undefined;
}

const AT_ONCE = 4;

interface LineSettings {
  allowPrivate: boolean;
  limits: HrisLimits;
  /** Our client certificate, if the system requires one; PEM. */
  tls?: { cert: string; key: string } | undefined;
  /** Names of the headers that report the rate limit, by their usual names (`ratelimit-remaining`). */
  budget?: Readonly<Record<string, string>> | undefined;
}

export function openLine(url: string, { allowPrivate, limits, tls, budget = {} }: LineSettings): HrisLine {
  const pool = openPool(url, { allowPrivate, connections: AT_ONCE, ...(tls && { tls }) });
  const base = new URL(url).pathname.replace(/\/+$/, '');
  // A queue for each priority, so that a hire never waits behind bulk calls that wait for the rate limit.
  const queues: Record<Priority, ReturnType<typeof pLimit>> = { live: pLimit(AT_ONCE), bulk: pLimit(AT_ONCE) };
  return {
    base,
    send: ({ endpoint, priority = 'live', ...request }) => {
      const rateLimit = limits(endpoint);
      return queues[priority](async () => {
        await acquirePermit(rateLimit, { priority, signal: request.signal, what: 'A call to the HR system' });
        const send = async (): Promise<HttpAnswer> => {
          const answer = await sendRequest(pool, { ...request, path: `${base}${request.path}` });
          const told = Object.entries(budget).map(([usual, own]) => [usual, answer.headers[own.toLowerCase()]]);
          return { ...answer, headers: { ...answer.headers, ...Object.fromEntries(told) } };
        };
        return sendOnPermit(rateLimit, send, ({ headers, endedAt }) => readRetryAfter(headers, endedAt));
      });
    },
    close: () => pool.close(),
  };
}

export interface HrisRequest extends LineRequest {
  /** Names the call in messages, without personal data: `POST /employees`. */
  what: string;
}

/** The HRIS's reason, made safe to show by the adapter. */
export interface Refusal {
  code?: string;
  said?: string;
  details?: Record<string, unknown>;
}

/** Error codes common to all HRISes. Trouble of the whole system pauses the HRIS instead of one hire. */
const HRIS_CODES: Readonly<Record<string, string>> = {
  UNAUTHORIZED: 'HRIS_AUTH',
  FORBIDDEN: 'HRIS_FORBIDDEN',
  UNREACHABLE: 'HRIS_UNREACHABLE',
  PRIVATE_ADDRESS: 'HRIS_PRIVATE_ADDRESS',
  UNEXPECTED_REDIRECT: 'HRIS_UNEXPECTED_REDIRECT',
  ABORTED: 'STOPPED',
};

/** How long to wait if a system asks for fewer calls without saying how long. */
const THROTTLED_MS = 30_000;

/**
 * Makes one request to an HRIS; never repeats it. Any status but 2xx becomes a ConnectorError by the shared status
 * table; `explain` adds the HRIS's own words.
 */
export async function callHris(
  line: HrisLine,
  request: HrisRequest,
  explain: (answer: HttpAnswer) => Refusal = () => ({}),
): Promise<HttpAnswer> {
  const { what } = request;
  const idempotent = request.idempotent ?? request.method !== 'POST';
  try {
    const answer = await line.send({ ...request, idempotent });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const known = explain(answer);
    throw httpError(what, answer, idempotent, !idempotent && mayBeDone(answer) ? { ...known, ...REDIRECTED } : known);
  } catch (error) {
    throw isConnectorError(error) ? renamed(error) : error;
  }
}

const REDIRECTED = {
  code: 'HRIS_UNREADABLE_ANSWER',
  action: 'unknown',
  hint: 'redirects are not followed, and it may have been carried out: it is looked up first; check hris.url',
} as const;

/**
 * Whether a write may be done although it is redirected, because the address may be that of what it made: RFC 9110,
 * sections 15.4.2 to 15.4.4. 307 and 308 ask for it to be sent elsewhere instead.
 */
export function mayBeDone({ status }: Pick<HttpAnswer, 'status'>): boolean {
  return [301, 302, 303].includes(status);
}

function renamed(error: ConnectorError): ConnectorError {
  const { action, message, status, details, requestId } = error;
  const retryAfterMs = error.retryAfterMs ?? (action === 'throttle' ? THROTTLED_MS : undefined);
  const code = HRIS_CODES[error.code] ?? error.code;
  if (code === error.code && retryAfterMs === error.retryAfterMs) return error;
  return new ConnectorError({ code, action, message, status, retryAfterMs, details, requestId, cause: error });
}

/** Parses an answer as JSON. A login page or a proxy's error page instead leaves the outcome of the request open. */
export function readJson(answer: HttpAnswer, { what, idempotent }: { what: string; idempotent: boolean }): unknown {
  try {
    return parseExactly(new TextDecoder().decode(answer.body));
  } catch {
    const type = String(answer.headers['content-type'] ?? 'no content type').split(';', 1)[0];
    throw new ConnectorError({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: idempotent ? 'retry' : 'unknown',
      message:
        `${what} was answered ${answer.status} with ${type} where JSON was expected. A login page or a proxy may ` +
        'have answered instead of the HR system: check hris.url.',
      status: answer.status,
      requestId: answer.requestId,
    });
  }
}

/** A number that would lose digits stays text: as a number, an id beyond 2^53 is that of somebody else. */
function parseExactly(text: string): unknown {
  const exact = (_name: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? (decimalValue(context?.source ?? '') ?? value) : value;
  return JSON.parse(text, /[\d.]{16}/.test(text) ? exact : undefined);
}

/** Normalises an HTTP address: host in lower case, no default port, no trailing slash. */
export function sameAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
