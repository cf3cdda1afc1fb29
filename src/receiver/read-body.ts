import type { IncomingMessage } from 'node:http';
import { refusal } from './refusals.ts';
import type { UnjudgedBody } from './unjudged-bodies.ts';

export interface BodyLimits {
  maxBytes: number;
  /** From the end of the headers to the last byte; slow single bytes do not extend it. */
  maxMs: number;
}

/** A body slower than this is given up, whatever time is left. */
const LEAST_BYTES_A_SECOND = 1_000;

/** True if the declared length exceeds the limit, so that nothing has to be read. */
export function declaresTooMuch(request: IncomingMessage, maxBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > maxBytes;
}

/**
 * Reads the raw body while counting, so that an undeclared (chunked) length is limited as well.
 * @throws ConnectorError WEBHOOK_TOO_LARGE, WEBHOOK_TOO_SLOW, WEBHOOK_ABORTED or WEBHOOKS_BUSY
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, place?: UnjudgedBody): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const tooSlow = (): void => reject(refusal('WEBHOOK_TOO_SLOW'));
  const timer = setTimeout(tooSlow, limits.maxMs);
  let before = 0;
  const pulse = setInterval(() => {
    if (size - before < LEAST_BYTES_A_SECOND) tooSlow();
    before = size;
  }, 1_000);
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    place?.grow(chunk.length);
    if (size > limits.maxBytes) reject(refusal('WEBHOOK_TOO_LARGE'));
    else chunks.push(chunk);
  };
  request.on('data', take);
  request.once('error', (error) => reject(refusal('WEBHOOK_ABORTED', error)));
  const turnOut = (): void => reject(refusal('WEBHOOKS_BUSY'));
  place?.turnedOut.addEventListener('abort', turnOut, { once: true });
  const closed = (): void => reject(refusal('WEBHOOK_ABORTED'));
  request.once('close', closed);
  request.once('end', () => {
    // Every request closes in the end: creating an error for those already read would cost more than reading them.
    request.off('close', closed);
    resolve(Buffer.concat(chunks, size));
  });
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(pulse);
    request.off('data', take);
    request.off('close', closed);
  });
}
