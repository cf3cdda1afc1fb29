import { beginCycle } from './capacity.ts';
import { type LimiterState, type Met, SETTLE } from './new-rate.ts';
import { beginTest, freshWatch, MOST_NOISE, type NoiseTest, shareOf } from './noise.ts';
import { freshRow } from './saved-meetings.ts';

/** So far below the highest limit a limit would no longer be met. */
const FALLEN = 0.82;
const fade = { peak: 0.99, met: 0.9 };
/** Answers until it may be tested again. */
const AGAIN_AFTER = 1_000;
/** A window that was overrun refuses for long. */
const CALM_MS = 20_000;

/** Notes a meeting that is decided, and begins a test where noise is likely. */
export function suspect(state: LimiterState, met: Met, limitBefore: number): void {
  const { learned, underWay } = state;
  const { row, suspicion: saved, climb } = underWay;
  const isSettling = row.settling > 0 && !met.isAgain;
  const isOther = met.isFirst || met.isFar || isSettling || met.isLasting || (met.isLong && !met.isEarly);
  saved.peak = isOther ? learned.limit : Math.max(saved.peak * fade.peak, learned.limit);
  saved.met = saved.met * fade.met + 1;
  saved.answers = saved.answers * fade.met + climb.clean + met.meeting.refused;
  if (met.isFirst || (met.isFar && met.meeting.rate > 1.1 * limitBefore)) saved.calmUntil = met.now + CALM_MS;
  if (!met.isEarly || met.isLong || met.meeting.isBan || met.now < saved.calmUntil || !isLikely(state)) return;
  underWay.test = beginTest(saved.peak, learned.rate, saved.met / Math.max(1, saved.answers));
}

function isLikely({ learned, underWay: { row, suspicion: saved, tested, answers } }: LimiterState): boolean {
  const isFull = row.full > 0 && row.full < SETTLE;
  if (isFull || learned.noise > 0 || learned.rate > FALLEN * saved.peak) return false;
  return answers - tested.answers >= AGAIN_AFTER || learned.rate <= 0.5 * tested.rate;
}

/** What cut the rate was noise: it climbs from where it was, fast until something else refuses. */
export function believeNoise({ learned, underWay }: LimiterState, test: NoiseTest, now: number): void {
  const share = shareOf(test);
  Object.assign(underWay, {
    watch: { ...freshWatch },
    mostNoise: Math.min(MOST_NOISE, 1.3 * share + 0.01),
    row: { ...freshRow },
  });
  beginCycle(underWay.capacity, now);
  const rate = Math.max(test.before, learned.rate);
  Object.assign(learned, { noise: share, rate, limit: rate, limitSeen: false });
}
