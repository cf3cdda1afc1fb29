import type { IncomingHttpHeaders } from 'node:http';
import type { HttpTimeouts } from './pool.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: HttpMethod;
  /** Path and query, from the origin's root. */
  path: string;
  headers?: Record<string, string> | undefined;
  body?: string | Buffer | undefined;
  /** Our own id of the request, sent as X-Request-Id; made up when absent. */
  requestId?: string | undefined;
  /** True where doing it twice is as good as once. By default GET, PUT and DELETE. Decides `retry` or `unknown`. */
  idempotent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** Of the body as received and as unpacked. 32 MiB by default. */
  maxBodyBytes?: number | undefined;
  /**
   * Called synchronously, directly before the bytes are given to the socket. If it throws, nothing is sent and its
   * error is thrown.
   */
  beforeSend?: (() => void) | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Unpacked. */
  body: Buffer;
  /** When the bytes left and when the last byte came, in ms of this process's clock. */
  sentAt: number;
  endedAt: number;
  requestId: string;
}
