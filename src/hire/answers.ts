import { type Decisions, undecided } from './decisions.ts';
import type { EndState } from './hire-state.ts';
import type { HireStep } from './hire-step.ts';

/** One answer: what it takes, where the hire goes next, and what it decides for every later step. */
interface AnswerEntry {
  /** `same`: the step that held. Absent where only a hold of the whole tenant takes the answer. */
  next?: HireStep | 'same';
  /** The ids that must stand behind the answer. */
  takes?: string;
  /** The state that the hire ends in at once. */
  ends?: EndState;
  decides?: (before: Decisions, given: Given) => Partial<Decisions>;
  /** What comes of it later, and what ends that, where no hold is open meanwhile. */
  waitsFor?: string;
}

/** What came with an answer. */
export interface Given {
  argument: string | undefined;
  /** Details of the hold that was answered. */
  details: Record<string, unknown>;
}

/** Every answer that a hold may accept. */
export const answers = {
  retry: { next: 'same' },
  adopt: { next: 'enrol', takes: 'id', decides: (_, { argument }) => (argument ? { adopt: argument } : {}) },
  'adopt-anyway': { next: 'enrol', decides: (_, { details }) => adoptShown(details['onboardingCandidateId']) },
  dismiss: {},
  'keep-partner': {},
  'keep-hris': {},
  apply: {},
  'link-job': { takes: 'jobId' },
  'create-job': {},
  're-enrol': { next: 're-enrol', decides: () => ({ adopt: undefined, createAnyway: false, enrolAnew: true }) },
  'skip-onboarding': { next: 'employ', decides: () => ({ skipOnboarding: true }) },
  'take-anyway': { next: 'enrol', decides: () => ({ takeAnyway: true }) },
  'job-as-known': { next: 'employ', decides: () => ({ jobAsKnown: true }) },
  'start-in-past': { next: 'employ', decides: () => ({ startInPast: true }) },
  'create-anyway': { next: 'employ', decides: () => ({ createAnyway: true }) },
  'same-employee': { next: 'same', decides: () => ({ person: 'same-employee' }) },
  transfer: { next: 'same', decides: () => ({ person: 'transfer' }) },
  'new-employment': { next: 'same', decides: () => ({ person: 'new-employment' }) },
  'here-too': { next: 'same', decides: () => ({ hereToo: true }) },
  link: { next: 'same', takes: 'employeeId', decides: (_, { argument }) => (argument ? { link: argument } : {}) },
  'same-person': { next: 'same', decides: (_, { details }) => samePersonAs(details['employeeIds']) },
  create: { next: 'same', decides: denyFound },
  cancel: { next: 'cancel' },
  'no-show': { next: 'end-employment' },
  ended: { next: 'end-employment', decides: () => ({ endedByHand: true }) },
  moved: {
    next: 'hand-over',
    waitsFor:
      'The employee stays as they are until the next hire of this person in this tenant takes them over; one that ' +
      'asks about them already does so now. If none comes, end the employment in the HR system.',
  },
  keep: { next: 'ended', ends: 'kept' },
  left: { next: 'ended', ends: 'left' },
} satisfies Record<string, AnswerEntry>;

export type Answer = keyof typeof answers;

/** The entry of an answer as the store gives it back; undefined for a word that is no answer. */
export function entryOf(answer: string): AnswerEntry | undefined {
  return Object.hasOwn(answers, answer) ? answers[answer as Answer] : undefined;
}

/** Whoever answers `adopt-anyway` was shown what does not fit this enrolment, and means it all the same. */
function adoptShown(id: unknown): Partial<Decisions> {
  return typeof id === 'string' ? { adopt: id, adoptAnyway: id } : {};
}

/** Whoever answers `same-person` was shown the employee and the other candidate. */
function samePersonAs(employeeIds: unknown): Partial<Decisions> {
  const [id] = Array.isArray(employeeIds) ? employeeIds.map(String) : [];
  return id === undefined ? {} : { samePerson: id, link: id };
}

/**
 * Whoever answers `create` has looked at what was shown: those employees are somebody else, that attempt came to
 * nothing.
 */
function denyFound(before: Decisions, { details }: Given): Partial<Decisions> {
  const { employeeIds, reason, attempt } = details;
  const shown = Array.isArray(employeeIds) ? employeeIds.map(String) : [];
  return {
    link: undefined,
    notThese: new Set([...before.notThese, ...shown]),
    ...(reason === 'absence-unproven' ? { createUnproven: true } : {}),
    ...(typeof attempt === 'number' ? { neverHappened: new Set([...before.neverHappened, attempt]) } : {}),
  };
}

/** Whether the last word about a hire is `cancel`; a `retry` after it only tries that again. */
export function asksToCancel(given: ReadonlyArray<{ answer: string }>): boolean {
  return given.findLast(({ answer }) => answer !== 'retry')?.answer === 'cancel';
}

/** Folds the answers given so far, oldest first. */
export function decide(given: ReadonlyArray<Given & { answer: string }>): Decisions {
  return given.reduce<Decisions>(
    (before, one) => ({ ...before, ...entryOf(one.answer)?.decides?.(before, one) }),
    undecided,
  );
}
