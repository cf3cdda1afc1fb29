/**
 * Tells 429s that come at any rate from those of a limit: at three quarters of the rate a limit falls silent and noise
 * does not. Sequential tests, which end as soon as the answers are decisive.
 */
export interface NoiseTest {
  /** The rate before the first of the 429s under suspicion. */
  before: number;
  /** The test runs at three quarters of this. */
  rate: number;
  /** Tests before this one that ended with noise, each at three quarters of the rate before. */
  stage: number;
  /** The share of 429s that the test before found. */
  shareBefore: number;
  /** The share of 429s if they are noise. */
  suspected: number;
  answers: number;
  limited: number;
  limitedInRow: number;
  /** Runs of 429s. */
  runs: number;
  /** Logarithm of the likelihood of noise over that of a limit. */
  evidence: number;
}

/** Watches for a limit under known noise. */
export interface NoiseWatch {
  /** Evidence that all are refused. */
  run: number;
  /** Evidence that more are refused than by noise, and what was counted meanwhile. */
  excess: number;
  answers: number;
  limited: number;
}

export const freshWatch: Readonly<NoiseWatch> = { run: 0, excess: 0, answers: 0, limited: 0 };

/** A higher share of 429s is not noise. */
export const MOST_NOISE = 0.3;
const TEST_RATE = 0.75;
/** Below this share a limit was overrun by little: it falls silent at a tenth less. Such a test takes long. */
const few = { share: 0.04, testRate: 0.9 };
const LEAST_OF_BEFORE = 0.45;
const LEAST_NOISE = 0.002;
const decisive = { noise: 4, limit: -4.5 };
/** So many 429s in a row are no noise that is worth the name. */
const RUN = 6;

/** Cuts were made meanwhile that were too deep if it is noise: the test begins not far below the first refusal. */
export function beginTest(before: number, rate: number, share: number): NoiseTest {
  const suspected = Math.min(Math.max(0.6 * share, 0.008), MOST_NOISE);
  const from = Math.max(rate, LEAST_OF_BEFORE * before);
  return {
    before,
    rate: from * testRateOf(suspected),
    stage: 1,
    shareBefore: 0,
    suspected,
    answers: 0,
    limited: 0,
    runs: 0,
    limitedInRow: 0,
    evidence: 0,
  };
}

function testRateOf(suspected: number): number {
  return suspected < few.share ? few.testRate : TEST_RATE;
}

/** The same once more at a lower rate. */
export function repeatTest(test: NoiseTest): NoiseTest {
  const again = beginTest(test.before, test.rate, shareOf(test));
  return { ...again, rate: test.rate * testRateOf(again.suspected), stage: test.stage + 1, shareBefore: shareOf(test) };
}

/** Counts one answer; the verdict once it is clear. */
export function countInTest(test: NoiseTest, limited: boolean): 'noise' | 'fading' | 'limit' | undefined {
  const silent = test.suspected / 8;
  test.answers += 1;
  test.limitedInRow = limited ? test.limitedInRow + 1 : 0;
  if (limited) test.limited += 1;
  // A limit refuses in runs: one of them is one event.
  if (test.limitedInRow > 1) return test.limitedInRow >= RUN ? 'limit' : undefined;
  if (limited) test.runs += 1;
  test.evidence += limited ? Math.log(test.suspected / silent) : Math.log((1 - test.suspected) / (1 - silent));
  if (test.evidence <= decisive.limit) return 'limit';
  if (test.evidence < decisive.noise || test.runs < 3 || test.answers < 30) return undefined;
  if (shareOf(test) > MOST_NOISE) return 'limit';
  // The share of noise is the same at any rate.
  return shareOf(test) < 0.6 * test.shareBefore && test.stage < 4 ? 'fading' : 'noise';
}

export function shareOf({ answers, limited, suspected }: NoiseTest): number {
  return (limited + 20 * suspected) / (answers + 20);
}

/** Counts one answer under known noise: `run`, the limit refuses everybody; `excess`, it refuses some. */
export function watch(saved: NoiseWatch, noise: number, limited: boolean): 'run' | 'excess' | undefined {
  saved.run = Math.max(0, saved.run + logRatio(limited, 0.7, noise));
  saved.excess = Math.max(0, saved.excess + logRatio(limited, noise + Math.max(0.04, noise / 2), noise));
  if (saved.excess === 0) Object.assign(saved, { answers: 0, limited: 0 });
  saved.answers += 1;
  if (limited) saved.limited += 1;
  if (saved.run > 9) return 'run';
  return saved.excess > 6 ? 'excess' : undefined;
}

function logRatio(limited: boolean, one: number, other: number): number {
  return limited ? Math.log(one / other) : Math.log((1 - one) / (1 - other));
}

/** Follows the share of 429s where the rate is well below the limit; 0 when it is as good as gone. */
export function follow(noise: number, limited: boolean): number {
  const next = Math.min(MOST_NOISE, noise + 0.003 * ((limited ? 1 : 0) - noise));
  return next < LEAST_NOISE ? 0 : next;
}
