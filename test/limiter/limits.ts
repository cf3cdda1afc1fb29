/** What a server says to one request that reaches it. */
export interface Verdict {
  ok: boolean;
  /** From when on it would say yes. */
  retryAfterMs: number;
  remaining?: number;
  resetMs?: number;
}

/** A limit in virtual time: `at` in ms, `underWay` the requests it is working on. */
export type Limit = (at: number, underWay: number) => Verdict;

/** By what the limit is multiplied at a time: limits change. */
export type Scale = (at: number) => number;

const CONSTANT: Scale = () => 1;

export function tokenBucket(perSecond: number, burst: number, scale = CONSTANT): Limit {
  let [tokens, last] = [burst, 0];
  return (at) => {
    const rate = perSecond * scale(at);
    [tokens, last] = [Math.min(burst, tokens + ((at - last) * rate) / 1000), at];
    const ok = tokens >= 1;
    if (ok) tokens -= 1;
    return { ok, retryAfterMs: ((1 - tokens) * 1000) / rate };
  };
}

/** Windows begin at `offset`, as the server's clock has them. */
export function fixedWindow(most: number, windowMs: number, scale = CONSTANT, offset = 0.37): Limit {
  let [current, count] = [-1, 0];
  return (at) => {
    const shifted = at + offset * windowMs;
    const window = Math.floor(shifted / windowMs);
    if (window !== current) [current, count] = [window, 0];
    const allowed = most * scale(at);
    const ok = count < allowed;
    if (ok) count += 1;
    const resetMs = (window + 1) * windowMs - shifted;
    return { ok, retryAfterMs: resetMs, remaining: Math.max(0, Math.floor(allowed - count)), resetMs };
  };
}

export function slidingLog(most: number, windowMs: number, scale = CONSTANT): Limit {
  const taken: number[] = [];
  return (at) => {
    while (taken.length > 0 && (taken[0] ?? 0) <= at - windowMs) taken.shift();
    const allowed = most * scale(at);
    const ok = taken.length < allowed;
    if (ok) taken.push(at);
    const free = taken[Math.max(0, Math.ceil(taken.length - allowed))] ?? at;
    return { ok, retryAfterMs: Math.max(1, free + windowMs - at) };
  };
}

/** Two counters: the last window counts by the part of it that still lies within one window's length. */
export function slidingCounter(most: number, windowMs: number, scale = CONSTANT): Limit {
  let [current, count, before] = [0, 0, 0];
  return (at) => {
    const window = Math.floor(at / windowMs);
    if (window !== current) [before, count, current] = [window === current + 1 ? count : 0, 0, window];
    const passed = (at % windowMs) / windowMs;
    const allowed = most * scale(at);
    const ok = before * (1 - passed) + count + 1 <= allowed;
    if (ok) count += 1;
    const room = before > 0 ? ((before * (1 - passed) + count + 1 - allowed) / before) * windowMs : windowMs;
    return { ok, retryAfterMs: Math.max(1, Math.min(room, windowMs * (1 - passed))) };
  };
}

/** So many at once; who is refused is told to come again in a second. */
export function concurrency(most: number): Limit {
  return (_at, underWay) => ({ ok: underWay < most, retryAfterMs: 1_000 });
}

/** Both must say yes; the one behind is asked only if the one before does. */
export function layered(before: Limit, behind: Limit): Limit {
  return (at, underWay) => {
    const first = before(at, underWay);
    return first.ok ? behind(at, underWay) : first;
  };
}

/** Who comes again while refused is refused for twice as long, up to a minute; forgiven after a quiet minute. */
export function lengtheningBan(limit: Limit, firstMs: number): Limit {
  let [bannedUntil, banMs] = [0, firstMs];
  return (at, underWay) => {
    if (at > bannedUntil + 60_000) banMs = firstMs;
    if (at >= bannedUntil) {
      const verdict = limit(at, underWay);
      if (verdict.ok) return verdict;
    } else banMs = Math.min(60_000, banMs * 2);
    bannedUntil = at + banMs;
    return { ok: false, retryAfterMs: banMs };
  };
}
