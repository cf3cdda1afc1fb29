/** What an answer's headers say about the budget. A hint, never a promise: the rate is learned from 429s. */
export interface AdvertisedBudget {
  remaining: number;
  /** Until the budget is full again. */
  resetMs: number;
}

/**
 * Reads `RateLimit: "p";r=50;t=30` (draft-ietf-httpapi-ratelimit-headers), its older form `RateLimit-Remaining` and
 * `-Reset`, and the widespread `X-RateLimit-*`, whose reset is either seconds from now or an epoch. Undefined unless
 * both numbers are there.
 */
export function readAdvertisedBudget(headers: Record<string, unknown>, now: number): AdvertisedBudget | undefined {
  const header = headers['ratelimit'];
  const fields = typeof header === 'string' ? header : '';
  const remaining = numberOf(/\br=(\d+)/.exec(fields)?.[1] ?? either(headers, 'remaining'));
  const reset = numberOf(/\bt=(\d+)/.exec(fields)?.[1] ?? either(headers, 'reset'));
  if (remaining === undefined || reset === undefined) return undefined;
  return { remaining, resetMs: Math.max(0, resetMs(reset, serverNow(headers['date'], now))) };
}

function either(headers: Record<string, unknown>, name: string): unknown {
  return headers[`ratelimit-${name}`] ?? headers[`x-ratelimit-${name}`];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

/** Seconds from now; larger numbers are an instant, in seconds or in ms. */
function resetMs(reset: number, now: number): number {
  if (reset < 1e8) return reset * 1000;
  return (reset < 1e11 ? reset * 1000 : reset) - now;
}

/** An instant is of the server's clock, which may differ from ours by minutes. */
function serverNow(date: unknown, now: number): number {
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? now : at;
}
