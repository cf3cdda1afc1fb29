import { beginCycle } from './capacity.ts';
import { CUT, NOISY_CUT, toothOf } from './climb.ts';
import { type LimiterState, type Met, SETTLE } from './new-rate.ts';
import { beginTest, freshWatch, MOST_NOISE, type NoiseTest, shareOf } from './noise.ts';
import { freshRow, freshUnderWay, type SavedSuspicion } from './saved-meetings.ts';

/** So far below the highest limit a limit would no longer be met. */
const FALLEN = 0.82;
const fade = { peak: 0.99, met: 0.9 };
/** Answers until it may be tested again, twice as many after each test that found a limit. */
const AGAIN_AFTER = 1_000;
const MOST_DOUBLINGS = 4;
const AGAIN_BELOW = 0.85;
const DEEP = 0.5;
const STILL_NOISY = 0.7;
/** Of the meetings lately so many were of one 429, after such a part of a tooth. */
const LONE = { met: 4, share: 0.75, tooth: 0.35 };
/** So many refused after the first ones say whose 429s they are. */
const PLAIN = 3;
/** A window that was overrun refuses for long. */
const CALM_MS = 20_000;

/** Notes a meeting that is decided, and begins a test where noise is likely. */
export function suspect(state: LimiterState, met: Met, limitBefore: number): void {
  const { learned, underWay } = state;
  const { row, suspicion: saved, climb } = underWay;
  const isSettling = row.settling > 0 && !met.isAgain;
  const isOther = met.isFirst || met.isFar || isSettling || met.isLasting || (met.isLong && !met.isEarly);
  if (met.isFirst) Object.assign(saved, { met: 0, answers: 0, lone: 0 });
  // Far above what was known the limit is a guess.
  const isGuess = met.isFar || (met.now < saved.calmUntil && !met.isFirst);
  const peak = isGuess ? Math.min(learned.limit, row.sound) : learned.limit;
  saved.peak = isOther ? peak : Math.max(saved.peak * (met.isEarly ? 1 : fade.peak), peak);
  noteMeeting(saved, climb.clean, met.meeting.refused);
  noteUnderWay(saved, met);
  if (met.isFirst || (met.isFar && met.meeting.rate > 1.1 * limitBefore))
    saved.calmUntil = met.now + Math.max(CALM_MS, row.memoryMs ?? 0);
  if ((met.hasFallen || met.isLong) && isPlain(saved)) saved.peak = learned.limit;
  if (!met.isEarly || met.isLong || met.meeting.isBan || met.isPlainFall || !isLikely(state, met.now)) return;
  underWay.test = beginTest(saved.peak, learned.rate, saved.met / Math.max(1, saved.answers));
}

function noteUnderWay(saved: SavedSuspicion, { isEarly, meeting: { refused, passed = 0 } }: Met): void {
  const before = isEarly ? (saved.underWay ?? freshUnderWay) : freshUnderWay;
  saved.underWay = { refused: before.refused + refused - 1, passed: before.passed + passed };
}

/** Once a limit is met, most of what is under way is refused as well; noise refuses its share of it. */
function isPlain({ underWay = freshUnderWay }: SavedSuspicion): boolean {
  return underWay.refused >= PLAIN && underWay.refused > underWay.passed;
}

function noteMeeting(saved: SavedSuspicion, clean: number, refused: number): void {
  saved.met = saved.met * fade.met + 1;
  saved.answers = saved.answers * fade.met + clean + refused;
  saved.lone = (saved.lone ?? 0) * fade.met + (refused === 1 ? 1 : 0);
}

function isLikely(state: LimiterState, now: number): boolean {
  const { learned, underWay } = state;
  const { row, suspicion: saved, tested, answers } = underWay;
  if (learned.noise > 0 || (learned.rate > FALLEN * saved.peak && !areLone(state))) return false;
  // A window that was overrun is no reason to fall so far.
  const isDeep = learned.rate < DEEP * saved.peak;
  const isFull = row.full > 0 && row.full < SETTLE;
  if (!isDeep && (isFull || now < saved.calmUntil)) return false;
  const after = AGAIN_AFTER * 2 ** Math.min(tested.silent ?? 0, MOST_DOUBLINGS);
  return answers - tested.answers >= after || learned.rate <= AGAIN_BELOW * tested.rate;
}

/** A limit is met at the top of a tooth, or by several at once; not by one, again and again, long before. */
function areLone({ learned, underWay: { climb, suspicion } }: LimiterState): boolean {
  const { met, answers, lone = 0 } = suspicion;
  return met >= LONE.met && lone >= LONE.share * met && answers < LONE.tooth * met * toothOf(climb, learned.limit, 0);
}

/** What cut the rate was noise: it climbs from where it was, fast until something else refuses. */
export function believeNoise({ learned, underWay }: LimiterState, test: NoiseTest, now: number): void {
  const share = shareOf(test);
  Object.assign(underWay, { watch: { ...freshWatch }, mostNoise: mostNoiseOf(share), row: { ...freshRow } });
  underWay.suspicion.peak = 0;
  beginCycle(underWay.capacity, now);
  const rate = Math.max(test.before, learned.rate);
  Object.assign(learned, { noise: share, rate, limit: rate, limitSeen: false });
}

/** More was refused than noise explains, though not everything: the rate falls to what went through. */
export function cutByExcess({ learned, underWay }: LimiterState): void {
  const { climb, watch, suspicion } = underWay;
  const share = watch.limited / watch.answers;
  Object.assign(climb, { clean: 0, beyond: 0 });
  if (learned.rate < STILL_NOISY * suspicion.peak) return raiseNoise({ learned, underWay }, share);
  const excess = Math.min(Math.max(share - learned.noise, CUT), 0.5);
  const limit = learned.rate * (1 - excess);
  Object.assign(learned, { limit, rate: limit * (1 - NOISY_CUT), limitSeen: true });
  suspicion.peak = Math.max(suspicion.peak, limit);
}

/** So far below what was fine it is not the limit: there is more noise than the test saw. */
function raiseNoise({ learned, underWay }: LimiterState, share: number): void {
  learned.noise = Math.min(share, MOST_NOISE);
  learned.limitSeen = false;
  underWay.mostNoise = mostNoiseOf(learned.noise);
  underWay.suspicion.peak = 0;
}

function mostNoiseOf(share: number): number {
  return Math.min(MOST_NOISE, 1.3 * share + 0.01);
}
