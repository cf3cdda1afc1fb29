/** Longer waits are taken for a mistake of the server (86,400 has been seen) and shortened to this: one hour. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Reads Retry-After (RFC 9110 section 10.2.3): seconds or an HTTP date, as ms from now. Undefined when it is missing,
 * negative or not understood, so that the caller's own wait applies. A date is read against the answer's Date header
 * where there is one: the server's clock may differ from ours by minutes.
 */
export function readRetryAfter(headers: Record<string, unknown>, now: number): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  // Date.parse takes "-5" for a year; an HTTP date begins with a weekday.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  const wait = at - serverNow(headers['date'], now);
  return wait < 0 ? undefined : Math.min(wait, MAX_RETRY_AFTER_MS);
}

function serverNow(date: unknown, now: number): number {
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? now : at;
}
