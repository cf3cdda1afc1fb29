/** Limits of section 8's last row. The spec leaves numbers and kind open: one of four kinds, per company. */
export interface RateLimit {
  /** Admits a call, or returns the wait in ms. */
  enter(companyId: number, now: number): { ok: true } | { ok: false; retryAfterMs: number };
  /** The call has been answered. */
  leave(companyId: number): void;
}

/** Length of fixed and sliding windows. */
const WINDOW_MS = 10_000;

type Kind = (rate: number, burst: number) => RateLimit;

const KINDS: Record<string, Kind> = { fixed, sliding, token, concurrency };

/**
 * Reads `fixed|sliding|token|concurrency:RATE[:BURST]`; only a token bucket has a burst. Undefined for anything else.
 */
export function parseRateLimit(text: string): RateLimit | undefined {
  const [kind = '', rateText = '', burstText, ...more] = text.split(':');
  const rate = Number(rateText);
  const burst = burstText === undefined ? rate : Number(burstText);
  const make = KINDS[kind];
  if (burstText !== undefined && kind !== 'token') return undefined;
  if (make === undefined || !(rate > 0) || !(burst > 0) || more.length > 0) return undefined;
  return make(rate, burst);
}

const NO_LEAVE = (): void => undefined;

function fixed(rate: number): RateLimit {
  const windows = new Map<number, { start: number; used: number }>();
  return {
    enter(companyId, now) {
      const start = now - (now % WINDOW_MS);
      const window = windows.get(companyId);
      const used = window?.start === start ? window.used : 0;
      if (used >= rate * (WINDOW_MS / 1000)) return { ok: false, retryAfterMs: start + WINDOW_MS - now };
      windows.set(companyId, { start, used: used + 1 });
      return { ok: true };
    },
    leave: NO_LEAVE,
  };
}

function sliding(rate: number): RateLimit {
  const logs = new Map<number, number[]>();
  return {
    enter(companyId, now) {
      const log = (logs.get(companyId) ?? []).filter((at) => at > now - WINDOW_MS);
      logs.set(companyId, log);
      if (log.length >= rate * (WINDOW_MS / 1000))
        return { ok: false, retryAfterMs: (log[0] ?? now) + WINDOW_MS - now };
      log.push(now);
      return { ok: true };
    },
    leave: NO_LEAVE,
  };
}

function token(rate: number, burst: number): RateLimit {
  const buckets = new Map<number, { tokens: number; at: number }>();
  return {
    enter(companyId, now) {
      const before = buckets.get(companyId) ?? { tokens: burst, at: now };
      const tokens = Math.min(burst, before.tokens + ((now - before.at) / 1000) * rate);
      const ok = tokens >= 1;
      buckets.set(companyId, { tokens: ok ? tokens - 1 : tokens, at: now });
      return ok ? { ok } : { ok, retryAfterMs: Math.ceil(((1 - tokens) / rate) * 1000) };
    },
    leave: NO_LEAVE,
  };
}

/** Counts calls in flight. */
function concurrency(limit: number): RateLimit {
  const inFlight = new Map<number, number>();
  return {
    enter(companyId) {
      const now = inFlight.get(companyId) ?? 0;
      if (now >= limit) return { ok: false, retryAfterMs: 1000 };
      inFlight.set(companyId, now + 1);
      return { ok: true };
    },
    leave(companyId) {
      inFlight.set(companyId, Math.max(0, (inFlight.get(companyId) ?? 0) - 1));
    },
  };
}
