import type { Priority, RateLimitAnswer } from './rate-limit.ts';

/** How many waits were as long as a bucket says: bucket n ends at 2^(n/2) ms. */
type Waits = Record<string, number>;

interface Period {
  from: number;
  answers: number;
  /** 429s. */
  refused: number;
  waits: Record<Priority, Waits>;
}

/** The calls under one rate limit, of all processes, in the last five to ten minutes. Plain data. */
export interface Traffic {
  current: Period;
  last?: Period;
}

/** What is shown of it. Shares are from 0 to 1. */
export interface TrafficView {
  perSecond: number;
  share429: number;
  /** How long calls waited for their permit; absent where none was made. */
  waits: Partial<Record<Priority, { p50Ms: number; p99Ms: number; count: number }>>;
}

const PERIOD_MS = 300_000;

/** Adds what one process reports. */
export function noteTraffic(
  known: Traffic | undefined,
  { answers, waits }: { answers: readonly RateLimitAnswer[]; waits: Readonly<Record<Priority, readonly number[]>> },
  now: number,
): Traffic {
  const { current, ...last } = turned(known, now);
  return {
    ...last,
    current: {
      from: current.from,
      answers: current.answers + answers.length,
      refused: current.refused + answers.filter(({ status }) => status === 429).length,
      waits: { live: addWaits(current.waits.live, waits.live), bulk: addWaits(current.waits.bulk, waits.bulk) },
    },
  };
}

export function viewTraffic(known: Traffic | undefined, now: number): TrafficView {
  const { current, last } = turned(known, now);
  const periods = last === undefined ? [current] : [last, current];
  const answers = sum(periods.map((period) => period.answers));
  const since = periods[0]?.from ?? now;
  const waits = (['live', 'bulk'] as const).flatMap((priority) => {
    const shown = viewWaits(periods.map((period) => period.waits[priority]));
    return shown === undefined ? [] : [[priority, shown] as const];
  });
  return {
    perSecond: (answers * 1000) / Math.max(now - since, 1000),
    share429: answers === 0 ? 0 : sum(periods.map(({ refused }) => refused)) / answers,
    waits: Object.fromEntries(waits),
  };
}

/** With a current period that is not over. */
function turned(known: Traffic | undefined, now: number): Traffic {
  const fresh: Period = { from: now, answers: 0, refused: 0, waits: { live: {}, bulk: {} } };
  if (known === undefined || now - known.current.from > 2 * PERIOD_MS) return { current: fresh };
  return now - known.current.from > PERIOD_MS ? { current: fresh, last: known.current } : known;
}

function addWaits(known: Waits, waits: readonly number[]): Waits {
  const added = { ...known };
  for (const ms of waits) {
    const bucket = String(ms <= 1 ? 0 : Math.ceil(2 * Math.log2(ms)));
    added[bucket] = (added[bucket] ?? 0) + 1;
  }
  return added;
}

function viewWaits(periods: readonly Waits[]): { p50Ms: number; p99Ms: number; count: number } | undefined {
  const buckets = periods.flatMap((waits) => Object.entries(waits)).map(([n, count]) => [Number(n), count] as const);
  const sorted = buckets.toSorted(([a], [b]) => a - b);
  const count = sum(sorted.map(([, n]) => n));
  if (count === 0) return undefined;
  const at = (part: number): number => {
    let left = count * part;
    const found = sorted.find(([, n]) => (left -= n) <= 0) ?? sorted.at(-1);
    return Math.round(2 ** ((found?.[0] ?? 0) / 2));
  };
  return { p50Ms: at(0.5), p99Ms: at(0.99), count };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
