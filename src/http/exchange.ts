import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { HttpRequest } from './message.ts';
import type { HttpPool } from './pool.ts';

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

type OwnEnd = 'ABORTED' | 'TIMEOUT' | 'ANSWER_TOO_LARGE' | 'SENT_TWICE' | 'UNREADABLE_BODY';

/** An error that ends the exchange, by our own decision. */
export function exchangeError(code: OwnEnd, cause?: unknown): Error {
  return Object.assign(new Error(code, { cause }), { code });
}

/** Dispatches one request and collects its answer, keeping `state` true at each moment. */
export function exchange(
  pool: HttpPool,
  request: HttpRequest,
  maxBodyBytes: number,
  state: Exchange,
): Promise<RawAnswer> {
  const timeouts = { ...pool.timeouts, ...request.timeouts };
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const reception = new Reception(request, state, maxBodyBytes, resolve, reject);
  const onAbort = (): void => reception.end(exchangeError('ABORTED', request.signal?.reason));
  if (request.signal?.aborted === true) {
    onAbort();
    return promise;
  }
  const timer = setTimeout(() => reception.end(exchangeError('TIMEOUT')), timeouts.totalMs);
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
    reception,
  );
  return promise.finally(() => {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', onAbort);
  });
}

/**
 * Takes the answer as undici brings it. Invariant: once ended, nothing is started; once started, nothing is started
 * again.
 */
class Reception implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #state: Exchange;
  readonly #maxBytes: number;
  readonly #resolve: (answer: RawAnswer) => void;
  readonly #reject: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #ended: Error | undefined;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(
    request: HttpRequest,
    state: Exchange,
    maxBytes: number,
    resolve: (answer: RawAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#request = request;
    this.#state = state;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Ends it from our side: before the start nothing will be sent, after it the connection is cut. */
  end(error: Error): void {
    this.#ended ??= error;
    this.#reject(this.#ended);
    this.#controller?.abort(error);
  }

  /**
   * The last moment at which nothing has happened: undici's writeH1 calls it before the first byte, and a throw stops
   * the write.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#ended !== undefined) throw this.#ended;
    // undici may put a request back into its queue when a connection ends; a second start would be a second send.
    if (this.#state.sentAt !== undefined) throw exchangeError('SENT_TWICE');
    try {
      this.#request.beforeSend?.();
    } catch (error) {
      this.#state.refusal = { error };
      throw error;
    }
    this.#controller = controller;
    this.#state.sentAt = Date.now();
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#state.status = status;
    this.#headers = headers;
    if (Number(headers['content-length'] ?? 0) > this.#maxBytes) this.end(exchangeError('ANSWER_TOO_LARGE'));
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.end(exchangeError('ANSWER_TOO_LARGE'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const { sentAt, status } = this.#state;
    if (sentAt === undefined || status === undefined) return;
    this.#resolve({ status, headers: this.#headers, body: Buffer.concat(this.#chunks), sentAt });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#reject(this.#ended ?? error);
  }
}
