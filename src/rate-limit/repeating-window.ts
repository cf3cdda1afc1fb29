/**
 * Infers the length of a window: at each meeting with a limit, the average over the limit's own window is what the
 * limit allows, while averages over other spans say how the rate went. The span whose average repeats is the window.
 */
export interface SavedSpans {
  /** Successes in each of the last seconds, and the second of the last one. */
  counts: number[];
  second: number;
  /** By span: the average at meetings, how far they lay apart as a share of it, and how many there were. */
  spans: { mean: number; apart: number; met: number }[];
}

const SPANS_S = [10, 15, 20, 30, 60] as const;
const LONGEST_S = 60;
const MEMORY = { mean: 0.6, apart: 0.35 };
/** Averages that lie so close together repeat. */
const close = { met: 3, apart: 0.008, now: 0.02, successes: 80 };

export const freshSpans: Readonly<SavedSpans> = { counts: [], second: 0, spans: [] };

export function addSuccess(saved: SavedSpans, now: number): void {
  roll(saved, Math.floor(now / 1000));
  const last = saved.counts.length - 1;
  saved.counts[last] = (saved.counts[last] ?? 0) + 1;
}

/** Notes a meeting. What the limit allows a second, where a span's average repeats, and does so now. */
export function noteMeeting(saved: SavedSpans, now: number): number | undefined {
  roll(saved, Math.floor(now / 1000));
  let found: { mean: number; apart: number } | undefined;
  for (const [place, seconds] of SPANS_S.entries()) {
    const average = averageOver(saved, now, seconds);
    const span = saved.spans[place] ?? { mean: average, apart: 1, met: 0 };
    const off = Math.abs(average / Math.max(span.mean, 1e-9) - 1);
    const isClose =
      average * seconds >= close.successes && span.met >= close.met && span.apart <= close.apart && off <= close.now;
    if (isClose && span.apart <= (found?.apart ?? 1)) found = { mean: span.mean, apart: span.apart };
    saved.spans[place] = {
      mean: span.mean + MEMORY.mean * (average - span.mean),
      apart: span.met === 0 ? 0.02 : span.apart + MEMORY.apart * (Math.min(off, 0.5) - span.apart),
      met: span.met + 1,
    };
  }
  return found?.mean;
}

function averageOver({ counts }: SavedSpans, now: number, seconds: number): number {
  const part = (now % 1000) / 1000;
  const whole = counts.slice(-seconds).reduce((sum, count) => sum + count, 0);
  // Of the second in which the span begins, the part that lies in it.
  const first = (counts[counts.length - 1 - seconds] ?? 0) * (1 - part);
  return (whole + first) / seconds;
}

function roll(saved: SavedSpans, second: number): void {
  const passed = Math.min(second - saved.second, LONGEST_S + 1);
  for (let n = 0; n < passed; n += 1) saved.counts.push(0);
  saved.second = Math.max(saved.second, second);
  if (saved.counts.length > LONGEST_S + 1) saved.counts.splice(0, saved.counts.length - LONGEST_S - 1);
}
