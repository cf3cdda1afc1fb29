import type { HireKey } from '../../src/store/hires.ts';
import { answersOf } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';

/** What a person decided about a hire; the last word on each question counts. */
export interface Decisions {
  /** The enrolment made by hand that is ours now. */
  adopt?: string;
  skipOnboarding?: boolean;
  createAnyway?: boolean;
  /** A person hired before, or on another job. */
  person?: 'same-employee' | 'transfer' | 'new-employment';
  /** The employee this person is. */
  link?: string;
  /** These employees are somebody else. */
  notThese: ReadonlySet<string>;
  /** A person looked and there is no such employee, although the HR system cannot prove it. */
  createUnproven?: boolean;
  /** Attempts at a create of which a person said that they did not happen. */
  neverHappened: ReadonlySet<number>;
}

/** Read from the answered holds each time, so that an answer outlives every workflow. */
export async function readDecisions(store: Store, key: HireKey): Promise<Decisions> {
  const decisions: Decisions = { notThese: new Set(), neverHappened: new Set() };
  for (const { answer, arguments: args, details } of await answersOf(store, key)) {
    apply[answer]?.(decisions, args[0], details);
  }
  return decisions;
}

type Apply = (decisions: Decisions, argument: string | undefined, details: Record<string, unknown>) => void;

const apply: Record<string, Apply> = {
  adopt(decisions, id) {
    if (id !== undefined) decisions.adopt = id;
  },
  'skip-onboarding': (decisions) => void (decisions.skipOnboarding = true),
  'create-anyway': (decisions) => void (decisions.createAnyway = true),
  're-enrol'(decisions) {
    delete decisions.adopt;
    delete decisions.createAnyway;
  },
  'same-employee': (decisions) => void (decisions.person = 'same-employee'),
  transfer: (decisions) => void (decisions.person = 'transfer'),
  'new-employment': (decisions) => void (decisions.person = 'new-employment'),
  link(decisions, id) {
    if (id !== undefined) decisions.link = id;
  },
  create(decisions, _id, details) {
    const ids = Array.isArray(details['employeeIds']) ? details['employeeIds'].map(String) : [];
    decisions.notThese = new Set([...decisions.notThese, ...ids]);
    if (details['reason'] === 'absence-unproven') decisions.createUnproven = true;
    const attempt = details['attempt'];
    if (typeof attempt === 'number') decisions.neverHappened = new Set([...decisions.neverHappened, attempt]);
  },
};
