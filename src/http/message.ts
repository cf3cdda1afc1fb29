import type { IncomingHttpHeaders } from 'node:http';
import type { HttpTimeouts } from './pool.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: HttpMethod;
  /** Path and query, from the origin's root. */
  path: string;
  headers?: Record<string, string> | undefined;
  body?: string | Buffer | undefined;
  /** Our id of the request, sent as X-Request-Id; generated if absent. */
  requestId?: string | undefined;
  /** True if repeating the request is harmless; by default GET, PUT and DELETE. Decides on `retry` or `unknown`. */
  idempotent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** Limit for the body as received and as decompressed. 32 MiB by default. */
  maxBodyBytes?: number | undefined;
  /**
   * Called synchronously, directly before the bytes are given to the socket. If it throws, nothing is sent and its
   * error is passed on.
   */
  beforeSend?: (() => void) | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  body: Buffer;
  /** When the bytes left and when the last byte arrived, in ms of this process's clock. */
  sentAt: number;
  endedAt: number;
  requestId: string;
}
