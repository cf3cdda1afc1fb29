import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { HttpPool } from './pool.ts';
import type { HttpRequest } from './request.ts';

/** What is known of a request under way; an error is explained from it. */
export interface Exchange {
  /** Set directly before the bytes are given to the socket: from here on the other side may have acted. */
  sentAt: number | undefined;
  status: number | undefined;
  /** What beforeSend threw. */
  refusal?: { error: unknown };
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  sentAt: number;
}

/** An error that ends the exchange, by our own decision. */
export function exchangeError(
  code: 'ABORTED' | 'TIMEOUT' | 'ANSWER_TOO_LARGE' | 'SENT_TWICE' | 'UNREADABLE_BODY',
  cause?: unknown,
): Error {
  return Object.assign(new Error(code, { cause }), { code });
}

/** Dispatches one request and collects its answer, keeping `state` true at each moment. */
export function exchange(
  pool: HttpPool,
  request: HttpRequest,
  maxBodyBytes: number,
  state: Exchange,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const timeouts = { ...pool.timeouts, ...request.timeouts };
    let controller: Dispatcher.DispatchController | undefined;
    let ended: Error | undefined;
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let size = 0;

    const end = (error: Error): void => {
      ended ??= error;
      controller?.abort(error);
      finish();
      reject(error);
    };
    const onAbort = (): void => end(exchangeError('ABORTED', request.signal?.reason));
    const timer = setTimeout(() => end(exchangeError('TIMEOUT')), timeouts.totalMs);
    const finish = (): void => {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBodyBytes) end(exchangeError('ANSWER_TOO_LARGE'));
      else chunks.push(chunk);
    };

    if (request.signal?.aborted === true) return onAbort();
    request.signal?.addEventListener('abort', onAbort, { once: true });
    pool.dispatcher.dispatch(
      {
        method: request.method,
        path: request.path,
        headers: request.headers ?? {},
        body: request.body ?? null,
        headersTimeout: timeouts.headersMs,
        bodyTimeout: timeouts.bodyMs,
      },
      {
        // undici calls this from writeH1, synchronously before the first byte is written; what it throws stops the write.
        onRequestStart(started) {
          controller = started;
          start(request, state, ended);
        },
        onResponseStart(_controller, status, received) {
          state.status = status;
          headers = received;
          if (Number(received['content-length'] ?? 0) > maxBodyBytes) end(exchangeError('ANSWER_TOO_LARGE'));
        },
        onResponseData: (_controller, chunk) => take(chunk),
        onResponseEnd() {
          finish();
          if (ended === undefined && state.sentAt !== undefined && state.status !== undefined)
            resolve({ status: state.status, headers, body: Buffer.concat(chunks), sentAt: state.sentAt });
        },
        onResponseError(_controller, error) {
          finish();
          reject(ended ?? error);
        },
      },
    );
  });
}

/** The last moment at which nothing has happened yet. */
function start(request: HttpRequest, state: Exchange, ended: Error | undefined): void {
  if (ended !== undefined) throw ended;
  // undici may put a request back into its queue when a connection ends; a second start would be a second send.
  if (state.sentAt !== undefined) throw exchangeError('SENT_TWICE');
  try {
    request.beforeSend?.();
  } catch (error) {
    state.refusal = { error };
    throw error;
  }
  state.sentAt = Date.now();
}
