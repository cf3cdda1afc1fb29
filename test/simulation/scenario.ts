import { type Quirk, quirkNames } from '../../src/sandbox/quirks.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import type { HrisProfile } from './hris-double.ts';

/** What a seed's world has besides, each by its own switch (`--with`). */
export const extras = [
  'hired-before',
  'other-hris',
  'late-roster',
  'retention',
  'wrong-answers',
  'unheard-answers',
  'restored-store',
  'early-leavers',
  'shared-company',
  'conditions',
  'merged-candidates',
] as const;
export type Extra = (typeof extras)[number];
/** With these, people and faults are the same as on a day without them, so that the ends can be compared. */
const COMPARABLE: ReadonlySet<Extra> = new Set(['retention']);

/** What happens in one seed: who is hired, what people do, and what breaks. Everything is drawn from the seed. */
export interface Scenario {
  seed: number;
  tenants: number;
  /** Tenants that share one HRIS. */
  sharedHris: boolean;
  profile: HrisProfile;
  skipOnboarding: boolean;
  /** People hired before go-live. */
  hiredBefore: number;
  hires: number;
  changesOfMind: boolean;
  /** Some people stand on two jobs. */
  doubleApplications: boolean;
  enrolledByHand: boolean;
  /** The HRIS has somebody else with a candidate's e-mail. */
  sameEmail: boolean;
  /** Recruiters correct names, also while a hire is held. */
  edits: boolean;
  credits: number | undefined;
  webhooks: 'all' | 'some' | 'none';
  /** Chance of a fault for each request. */
  faultRate: number;
  kills: number;
  stops: number;
  /** Temporal's store is deleted in the middle. */
  loseTemporal: boolean;
  /** Our own store is deleted too. */
  loseStore: boolean;
  badKey: 'no' | 'deactivated' | 'inactive-account' | 'other-company' | 'regenerated';
  longHistories: number;
  /** Whether somebody answers holds while the storm is on. */
  answersEarly: boolean;
  /** Habits of this partner, and how long after the start it takes them up. */
  quirks: readonly Quirk[];
  quirksAfterMs: number;
  /** People are enrolled with the offer, and employees made of those hired; half of them skip the offer. */
  stagesApart: boolean;
  extras: readonly Extra[];
  /** Default: `policies.reconcileMs`. */
  reconcileMs?: number;
}

export function drawScenario(seed: number): Scenario {
  const random = createRandom(Math.imul(seed, 2_654_435_761));
  const chance = (probability: number): boolean => random() < probability;
  const stormy = chance(0.85);
  const tenants = chance(0.25) ? 2 : 1;
  const loseStore = stormy && chance(0.04);
  const scenario: Scenario = {
    seed,
    tenants,
    sharedHris: tenants === 2 && chance(0.5),
    profile: chance(0.7) ? 'strict' : 'careless',
    skipOnboarding: chance(0.15),
    hiredBefore: chance(0.4) ? 1 + Math.floor(random() * 2) : 0,
    hires: 1 + Math.floor(random() * 3),
    changesOfMind: chance(0.55),
    doubleApplications: chance(0.15),
    enrolledByHand: chance(0.1),
    sameEmail: chance(0.1),
    credits: chance(0.12) ? Math.floor(random() * 2) : undefined,
    webhooks: drawOne(random, ['all', 'all', 'all', 'some', 'none']),
    faultRate: stormy ? drawOne(random, [0, 0.03, 0.08, 0.2]) : 0,
    kills: stormy ? drawOne(random, [0, 0, 1, 2, 4]) : 0,
    stops: stormy ? drawOne(random, [0, 0, 1, 2]) : 0,
    loseTemporal: loseStore || (stormy && chance(0.08)),
    loseStore,
    badKey: chance(0.12) ? drawOne(random, ['deactivated', 'inactive-account', 'other-company', 'regenerated']) : 'no',
    longHistories: chance(0.3) ? 0.1 : 0,
    answersEarly: chance(0.5),
    edits: chance(0.35),
    quirks: [],
    quirksAfterMs: 0,
    stagesApart: false,
    extras: [],
  };
  Object.assign(scenario, drawFleet(seed, scenario));
  // With nothing known of the tenant any more, nothing can tell another company's key from the right one.
  return loseStore && scenario.badKey === 'other-company' ? { ...scenario, badKey: 'no' } : scenario;
}

/** Of a stream of its own, so that the other draws of a seed stay what they were. */
function drawFleet(seed: number, { tenants }: Scenario): Pick<Scenario, 'tenants' | 'sharedHris' | 'stagesApart'> {
  const random = createRandom(Math.imul(seed, 97_003) + 5);
  const drawn = tenants === 2 || random() < 0.4 ? 2 : 1;
  return { tenants: drawn, sharedHris: drawn === 2 && random() < 0.5, stagesApart: random() < 0.25 };
}

/** The same seed with another partner: half of the quirks on average, in half of the seeds only after a while. */
export function withQuirks(scenario: Scenario): Scenario {
  const random = createRandom(Math.imul(scenario.seed, 40_503) + 11);
  const always = drawOne(random, quirkNames);
  const quirks = quirkNames.filter((quirk) => random() < 0.5 || quirk === always);
  const quirksAfterMs = random() < 0.5 ? 0 : random() * 240_000;
  return { ...scenario, quirks, quirksAfterMs };
}

/** The same seed in a world that has some of these besides. */
export function withExtras(scenario: Scenario, allowed: readonly Extra[]): Scenario {
  const random = createRandom(Math.imul(scenario.seed, 69_621) + 17);
  const always = drawOne(random, allowed);
  const drawn = allowed.filter((extra) => random() < 0.4 || extra === always);
  const profile = drawOne(random, ['roster', 'replica'] as const);
  const hired = 1 + Math.floor(random() * 2);
  return {
    ...scenario,
    extras: drawn,
    ...(drawn.includes('late-roster') ? { profile } : {}),
    ...(drawn.includes('hired-before') ? { hiredBefore: hired } : {}),
    // Nobody could tell a lost store from a restored one.
    ...(drawn.includes('restored-store') ? { loseStore: false } : {}),
    // Both tenants have the company's one key.
    ...(drawn.includes('shared-company')
      ? { tenants: 2, sharedHris: random() < 0.5, badKey: 'no', doubleApplications: true }
      : {}),
    ...(drawn.includes('conditions') ? { doubleApplications: true, changesOfMind: true } : {}),
  };
}

/** Whether this seed's world has it. */
export function has({ scenario }: { scenario: Scenario }, extra: Extra): boolean {
  return scenario.extras.includes(extra);
}

/**
 * Whether its ends can be compared with those of a day without faults. Where we enrol at an earlier stage, faults
 * decide whether ours is over when somebody enrols by hand, and so whether the partner takes that.
 */
export function isComparable({ changesOfMind, enrolledByHand, stagesApart, extras: drawn }: Scenario): boolean {
  const isByFaults = enrolledByHand && stagesApart;
  return !changesOfMind && !isByFaults && drawn.every((extra) => COMPARABLE.has(extra));
}

/** The same people on a day when nothing breaks, with a partner that has no quirks. */
export function withoutFaults(scenario: Scenario): Scenario {
  return {
    ...scenario,
    webhooks: 'all',
    faultRate: 0,
    kills: 0,
    stops: 0,
    loseTemporal: false,
    loseStore: false,
    badKey: 'no',
    longHistories: 0,
    quirks: [],
  };
}

export function drawOne<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}
