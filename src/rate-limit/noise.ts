/**
 * Tells 429s that come at any rate from those of a limit: at three quarters of the rate a limit falls silent and noise
 * does not. Sequential tests, which end as soon as the answers are decisive.
 */
export interface NoiseTest {
  /** The rate before the first of the 429s under suspicion. */
  before: number;
  /** 1 at three quarters of the rate, 2 at three quarters of that. */
  stage: number;
  /** The share of 429s if they are noise. */
  suspected: number;
  answers: number;
  limited: number;
  limitedInRow: number;
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
const MOST_NOISE = 0.3;
const LEAST_NOISE = 0.004;
const decisive = { noise: 4, limit: -3 };
/** So many 429s in a row are no noise that is worth the name. */
const RUN = 6;

export function beginTest(before: number, share: number): NoiseTest {
  const suspected = Math.min(Math.max(0.6 * share, 0.008), MOST_NOISE);
  return { before, stage: 1, suspected, answers: 0, limited: 0, limitedInRow: 0, evidence: 0 };
}

/** Counts one answer; the verdict once it is clear. */
export function countInTest(test: NoiseTest, limited: boolean): 'noise' | 'limit' | undefined {
  const silent = test.suspected / 8;
  test.answers += 1;
  if (limited) test.limited += 1;
  test.limitedInRow = limited ? test.limitedInRow + 1 : 0;
  test.evidence += limited ? Math.log(test.suspected / silent) : Math.log((1 - test.suspected) / (1 - silent));
  if (test.limitedInRow >= RUN) return 'limit';
  if (test.evidence <= decisive.limit) return 'limit';
  if (test.evidence < decisive.noise || test.limited < 3) return undefined;
  return shareOf(test) > MOST_NOISE ? 'limit' : 'noise';
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
  const next = Math.min(MOST_NOISE, noise + 0.01 * ((limited ? 1 : 0) - noise));
  return next < LEAST_NOISE ? 0 : next;
}
