/** What people decided about a hire; the last word on each question counts. */
export interface Decisions {
  /** The enrolment made by hand that belongs to this hire. */
  adopt?: string | undefined;
  /** The enrolment that is theirs although its e-mail is another. */
  adoptAnyway?: string;
  /** Another enrolment, whoever completed one before. */
  enrolAnew?: boolean;
  skipOnboarding?: boolean;
  createAnyway?: boolean;
  /** This hire is finished here although the tenant no longer takes its job. */
  takeAnyway?: boolean;
  /** The partner no longer shows the job: the employee is made of what it showed last. */
  jobAsKnown?: boolean;
  /** An employee who began so long ago is meant. */
  startInPast?: boolean;
  /** For a person hired before, or on another job. */
  person?: 'same-employee' | 'transfer' | 'new-employment';
  /** An employee here, although another HR system of the company has or gets one of this person. */
  hereToo?: boolean;
  /** The employee this person is. */
  link?: string | undefined;
  /** The employee whose candidate, although another one, is the same human. */
  samePerson?: string | undefined;
  /** Employees who are somebody else. */
  notThese: ReadonlySet<string>;
  /** A person looked and there is no such employee, although the HR system cannot prove it. */
  createUnproven?: boolean;
  /** The employment of somebody who did not start was ended in the HR system. */
  endedByHand?: boolean;
  /** Attempts at a create that a person said never happened. */
  neverHappened: ReadonlySet<number>;
}

export const undecided: Decisions = { notThese: new Set(), neverHappened: new Set() };
