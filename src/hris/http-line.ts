import pLimit from 'p-limit';
import { type HttpAnswer, type HttpRequest, readRetryAfter } from '../http/http-error.ts';
import { openPool } from '../http/pool.ts';
import { sendRequest } from '../http/request.ts';
import {
  acquirePermit,
  type Priority,
  type RateLimitKeeper,
  sendOnPermit,
  unlimited,
} from '../rate-limit/rate-limit.ts';
/** The rate limit of one tenant at its HRIS; an endpoint that is limited separately has its own. */
export type HrisLimits = (endpoint?: string) => RateLimitKeeper;

export const noLimits: HrisLimits = () => unlimited;

/** The connection to an HRIS over HTTP: several requests at once, each with a permit of its rate limit. */
export interface HrisLine {
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

export interface LineSettings {
  allowPrivate: boolean;
  limits: HrisLimits;
  /** Our client certificate, if the system requires one; PEM. */
  tls?: { cert: string; key: string } | undefined;
  /** Names of the headers that report the rate limit, by their usual names (`ratelimit-remaining`). */
  budget?: Readonly<Record<string, string>> | undefined;
}

export function openLine(url: string, { allowPrivate, limits, tls, budget = {} }: LineSettings): HrisLine {
  const pool = openPool(url, { allowPrivate, connections: AT_ONCE, ...(tls && { tls }) });
  // The path of the address is put before every path.
  const base = new URL(url).pathname.replace(/\/+$/, '');
  // A queue for each priority, so that a hire never waits behind bulk calls that wait for the rate limit.
  const queues: Record<Priority, ReturnType<typeof pLimit>> = { live: pLimit(AT_ONCE), bulk: pLimit(AT_ONCE) };
  return {
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
