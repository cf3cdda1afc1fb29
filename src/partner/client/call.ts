import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { isConnectorError } from '../../errors.ts';
import type { HttpAnswer } from '../../http/message.ts';
import { type HttpPool, openPool } from '../../http/pool.ts';
import { sendRequest } from '../../http/request.ts';
import { readRetryAfter } from '../../http/retry-after.ts';
import { type Priority, type RateLimitKeeper, unlimited } from '../../rate-limit/rate-limit.ts';
import { acquirePermit, sendOnPermit } from '../../rate-limit/send-on-permit.ts';
import type { Overrides } from '../contract/overrides.ts';
import { buildRequest } from './build-request.ts';
import { type AskedCall, readAnswer } from './read-answer.ts';
import { isRepeatable, isWrite } from './repeatable.ts';
import type { AnyEndpoint, Around, CallOptions, CallReport, LooseInput, PartnerClientOptions } from './types.ts';
import { fromWire } from './wire-names.ts';

/** Calls an endpoint once: the whole success body, or what `read` makes of its answer, or a ConnectorError. */
export type CallEndpoint = (
  endpoint: AnyEndpoint,
  input?: LooseInput,
  options?: CallOptions,
  read?: ReadAnswer,
) => Promise<unknown>;

export type ReadAnswer = (call: AskedCall, answer: HttpAnswer) => unknown;

const DEFAULT_CONCURRENCY = 16;

interface Connection {
  pool: HttpPool;
  basePath: string;
  apiKey: string;
  overrides: Overrides;
  rateLimit: RateLimitKeeper;
  onCall: ((report: CallReport) => void) | undefined;
  onObserved: PartnerClientOptions['onObserved'];
  around: Around;
  beforeWrite: (() => Promise<void>) | undefined;
  cancellation: () => AbortSignal | undefined;
}

/** One partner account: its connections, its queues, its rate limit. */
export function createCaller(
  options: PartnerClientOptions,
  overrides: Overrides,
): { call: CallEndpoint; close: () => Promise<void> } {
  const concurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
  const pool = openPool(options.baseUrl, {
    allowPrivate: options.allowPrivate,
    timeouts: options.timeouts,
    connections: concurrency * 2,
    dispatcher: options.dispatcher,
  });
  const basePath = new URL(options.baseUrl).pathname.replace(/\/+$/, '');
  const connection: Connection = {
    pool,
    basePath,
    apiKey: options.apiKey,
    overrides,
    rateLimit: options.rateLimit ?? unlimited,
    onCall: options.onCall,
    onObserved: options.onObserved,
    around: options.around ?? ((_operation, run) => run()),
    beforeWrite: options.beforeWrite,
    cancellation: options.cancellation ?? (() => undefined),
  };
  // A queue for each priority, so that a live call never waits behind bulk calls that wait for the rate limit.
  const queues: Record<Priority, ReturnType<typeof pLimit>> = {
    live: pLimit(concurrency),
    bulk: pLimit(concurrency),
  };
  return {
    call: (endpoint, input = {}, callOptions = {}, read = readAnswer) => {
      const priority = callOptions.priority ?? 'bulk';
      return reported(connection, endpoint, priority, (requestId) => {
        const send = () => callOnce(connection, { endpoint, input, priority, requestId, read }, callOptions);
        return queues[priority](() => connection.around(endpoint.id, send));
      });
    },
    close: () => pool.close(),
  };
}

interface Asked {
  endpoint: AnyEndpoint;
  input: LooseInput;
  priority: Priority;
  requestId: string;
  read: ReadAnswer;
}

async function callOnce(
  connection: Connection,
  { endpoint, input, priority, requestId, read }: Asked,
  options: CallOptions,
): Promise<{ status: number; body: unknown }> {
  const { pool, overrides, onObserved, rateLimit, beforeWrite } = connection;
  const request = buildRequest(overrides, endpoint, input);
  const idempotent = isRepeatable(endpoint);
  const signal = options.signal ?? (idempotent ? connection.cancellation() : undefined);
  const send = async (): Promise<HttpAnswer> => {
    if (isWrite(endpoint)) await beforeWrite?.();
    return sendRequest(pool, {
      method: endpoint.method,
      path: connection.basePath + request.path,
      headers: {
        authorization: `Bearer ${connection.apiKey}`,
        accept: 'application/json',
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: request.body,
      requestId,
      idempotent,
      signal,
      beforeSend: options.beforeSend,
      timeouts: options.timeouts,
    });
  };
  await acquirePermit(rateLimit, { priority, signal, what: endpoint.id, requestId, endpoint: endpoint.id });
  const retryAfterOf = ({ headers, endedAt }: HttpAnswer): number | undefined => readRetryAfter(headers, endedAt);
  const answer = await sendOnPermit(rateLimit, send, retryAfterOf, endpoint.id);
  return {
    status: answer.status,
    body: fromWire(overrides, endpoint, read({ overrides, endpoint, input, onObserved }, answer)),
  };
}

async function reported(
  connection: Connection,
  endpoint: AnyEndpoint,
  priority: Priority,
  run: (requestId: string) => Promise<{ status: number; body: unknown }>,
): Promise<unknown> {
  const requestId = randomUUID();
  const startedAt = performance.now();
  const report = (facts: Partial<CallReport>): void =>
    connection.onCall?.({ operation: endpoint.id, requestId, priority, ms: performance.now() - startedAt, ...facts });
  try {
    const { status, body } = await run(requestId);
    report({ status });
    return body;
  } catch (error) {
    report(isConnectorError(error) ? { status: error.status, code: error.code, action: error.action } : {});
    throw error;
  }
}
