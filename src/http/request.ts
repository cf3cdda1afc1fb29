import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { ConnectorError, isConnectorError } from '../errors.ts';
import { isTracing, traced } from '../trace.ts';
import type { HttpAnswer, HttpMethod, HttpRequest } from './http-error.ts';
import type { HttpPool } from './pool.ts';

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024;
const idempotentMethods: ReadonlySet<HttpMethod> = new Set(['GET', 'PUT', 'DELETE']);

/**
 * Sends exactly one HTTP request: never retries, follows no redirect. Returns any complete answer, whatever its status.
 * Errors: `UNREACHABLE`, `PRIVATE_ADDRESS` or `ABORTED` with action `retry` or `reject` if it was never sent;
 * `NO_ANSWER`, `ANSWER_TOO_LARGE`, `UNREADABLE_ANSWER` or `ABORTED` with action `unknown` (`retry` if idempotent) if it
 * was.
 */
export async function sendRequest(pool: HttpPool, request: HttpRequest): Promise<HttpAnswer> {
  const requestId = request.requestId ?? randomUUID();
  if (!isTracing()) return sendOnce(pool, request, requestId);
  const { hostname, port } = new URL(pool.origin);
  // No path: in an HR system described by a file, it may contain a person's e-mail.
  const facts = {
    'http.request.method': request.method,
    'server.address': hostname,
    ...(port === '' ? {} : { 'server.port': Number(port) }),
    'hirebridge.request_id': requestId,
  };
  return traced(request.method, { kind: 'client', facts }, async (note) => {
    const answer = await sendOnce(pool, request, requestId);
    note({ 'http.response.status_code': answer.status });
    return answer;
  });
}

async function sendOnce(pool: HttpPool, request: HttpRequest, requestId: string): Promise<HttpAnswer> {
  const maxBodyBytes = request.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const state: Exchange = { sentAt: undefined, status: undefined };
  try {
    const raw = await exchange(pool, { ...request, headers: headersOf(request, requestId) }, maxBodyBytes, state);
    const body = await decodeBody(raw.body, raw.headers['content-encoding'], maxBodyBytes);
    return { ...raw, body, endedAt: Date.now(), requestId };
  } catch (error) {
    throw explain(error, state, pool, request, requestId);
  }
}

function headersOf(request: HttpRequest, requestId: string): Record<string, string> {
  return { 'accept-encoding': 'gzip, deflate', 'x-request-id': requestId, ...request.headers };
}

function explain(error: unknown, state: Exchange, pool: HttpPool, request: HttpRequest, requestId: string): unknown {
  if (state.refusal !== undefined) return state.refusal.error;
  const sent = state.sentAt !== undefined;
  const reason = reasonOf(error);
  // The path without its query: a query may hold a person's e-mail.
  const called = request.what ?? `${request.method} ${request.path.split('?', 1)[0]}`;
  const what = `${called} (request ${requestId})`;
  if (!sent && isConnectorError(error)) return error;
  if (!sent) {
    return new ConnectorError({
      code: reason === 'ABORTED' ? 'ABORTED' : 'UNREACHABLE',
      action: 'retry',
      message: `${what} was not sent: ${pool.origin} ${reasonText(reason)}.`,
      requestId,
      details: { reason },
      cause: error,
    });
  }
  const idempotent = request.idempotent ?? idempotentMethods.has(request.method);
  return new ConnectorError({
    code: codesAfterSending[reason] ?? 'NO_ANSWER',
    action: idempotent ? 'retry' : 'unknown',
    message:
      `${what} was sent to ${pool.origin} and has no complete answer: it ${reasonText(reason)}. ` +
      `${idempotent ? 'It is safe to repeat.' : 'Check whether it was carried out before sending it again.'}`,
    status: state.status,
    requestId,
    details: { reason },
    cause: error,
  });
}

const codesAfterSending: Record<string, string> = {
  ABORTED: 'ABORTED',
  ANSWER_TOO_LARGE: 'ANSWER_TOO_LARGE',
  UNREADABLE_BODY: 'UNREADABLE_ANSWER',
};

const reasonTexts: Record<string, string> = {
  ABORTED: 'was cancelled by the caller',
  TIMEOUT: 'took longer than allowed in total',
  ANSWER_TOO_LARGE: 'answered with more bytes than allowed',
  UNREADABLE_BODY: 'answered with a body that cannot be unpacked',
  ENOTFOUND: 'has no address (ENOTFOUND): check the host name',
  EAI_AGAIN: 'cannot be looked up, because no name server answers (EAI_AGAIN): check the DNS of this machine',
  CERT_HAS_EXPIRED:
    'shows a certificate that has expired (CERT_HAS_EXPIRED): have it renewed there, and check the clock here',
  CERT_NOT_YET_VALID: 'shows a certificate that is not valid yet (CERT_NOT_YET_VALID): check the clock here',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'shows a certificate of another host (ERR_TLS_CERT_ALTNAME_INVALID): check the host name, and what is in between',
  ERR_SSL_WRONG_VERSION_NUMBER:
    'does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER): check the port, and whether http:// is meant',
  ECONNREFUSED: 'refuses connections (ECONNREFUSED): check host and port',
  UND_ERR_CONNECT_TIMEOUT: 'does not accept a connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
};

function reasonText(reason: string): string {
  if (/^(?:UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(reason))
    return `shows a certificate by an authority unknown here (${reason}): name its file in NODE_EXTRA_CA_CERTS`;
  return reasonTexts[reason] ?? `failed (${reason})`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code === 'string') return code;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? error.name : reasonOf(inner);
}

const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(unzip);

/**
 * Decompresses a body with Content-Encoding gzip or deflate, and stops at `maxBytes`: a few kilobytes may become
 * gigabytes.
 */
async function decodeBody(body: Buffer, encoding: string | string[] | undefined, maxBytes: number): Promise<Buffer> {
  const name = String(encoding ?? 'identity')
    .trim()
    .toLowerCase();
  if (name === 'identity' || name === '' || body.length === 0) return body;
  if (name !== 'gzip' && name !== 'x-gzip' && name !== 'deflate') throw exchangeError('UNREADABLE_BODY');
  try {
    return await unpack(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw exchangeError(tooLarge ? 'ANSWER_TOO_LARGE' : 'UNREADABLE_BODY', error);
  }
}

/** The state of a request under way; errors are explained from it. */
interface Exchange {
  /** Set directly before the bytes are given to the socket: from then on the other side may have acted. */
  sentAt: number | undefined;
  status: number | undefined;
  /** The error thrown by beforeSend. */
  refusal?: { error: unknown };
}

interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  sentAt: number;
}

type OwnEnd = 'ABORTED' | 'TIMEOUT' | 'ANSWER_TOO_LARGE' | 'SENT_TWICE' | 'UNREADABLE_BODY';

/** An error by which we end the exchange ourselves. */
function exchangeError(code: OwnEnd, cause?: unknown): Error {
  return Object.assign(new Error(code, { cause }), { code });
}

/** Dispatches one request and collects its answer; `state` is correct at every moment. */
function exchange(pool: HttpPool, request: HttpRequest, maxBodyBytes: number, state: Exchange): Promise<RawAnswer> {
  const timeouts = { ...pool.timeouts, ...request.timeouts };
  const { promise, ...settle } = Promise.withResolvers<RawAnswer>();
  const { handler, end } = receive(request, state, maxBodyBytes, settle);
  const onAbort = (): void => end(exchangeError('ABORTED', request.signal?.reason));
  if (request.signal?.aborted === true) {
    onAbort();
    return promise;
  }
  const timer = setTimeout(() => end(exchangeError('TIMEOUT')), timeouts.totalMs);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  pool.dispatcher.dispatch(
    {
      origin: pool.origin,
      method: request.method,
      path: request.path,
      headers: request.headers ?? {},
      body: request.body ?? null,
      headersTimeout: timeouts.headersMs,
      bodyTimeout: timeouts.bodyMs,
    },
    handler,
  );
  return promise.finally(() => {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', onAbort);
  });
}

/** Receives the answer from undici. Invariant: after the end nothing is started; nothing is started twice. */
function receive(
  request: HttpRequest,
  state: Exchange,
  maxBytes: number,
  { resolve, reject }: Pick<PromiseWithResolvers<RawAnswer>, 'resolve' | 'reject'>,
): { handler: Dispatcher.DispatchHandler; end: (error: Error) => void } {
  let controller: Dispatcher.DispatchController | undefined;
  let ended: Error | undefined;
  let headers: IncomingHttpHeaders = {};
  let size = 0;
  const chunks: Buffer[] = [];
  /** Ends the exchange from our side: before the start nothing will be sent; later the connection is cut. */
  const end = (error: Error): void => {
    ended ??= error;
    reject(ended);
    controller?.abort(error);
  };
  const handler: Dispatcher.DispatchHandler = {
    /**
     * The last moment before anything is sent: undici's writeH1 calls it before the first byte, and a throw stops the
     * write.
     */
    onRequestStart(started) {
      if (ended !== undefined) throw ended;
      // undici may requeue a request when a connection ends; a second start would send it twice.
      if (state.sentAt !== undefined) throw exchangeError('SENT_TWICE');
      try {
        request.beforeSend?.();
      } catch (error) {
        state.refusal = { error };
        throw error;
      }
      controller = started;
      state.sentAt = Date.now();
    },
    onResponseStart(_controller, status, given) {
      state.status = status;
      headers = given;
      if (Number(given['content-length'] ?? 0) > maxBytes) end(exchangeError('ANSWER_TOO_LARGE'));
    },
    onResponseData(_controller, chunk) {
      size += chunk.length;
      if (size > maxBytes) end(exchangeError('ANSWER_TOO_LARGE'));
      else chunks.push(chunk);
    },
    onResponseEnd() {
      const { sentAt, status } = state;
      if (sentAt === undefined || status === undefined) return;
      resolve({ status, headers, body: Buffer.concat(chunks), sentAt });
    },
    onResponseError: (_controller, error) => reject(ended ?? error),
  };
  return { handler, end };
}
