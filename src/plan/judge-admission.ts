/** What stands against starting a hire, apart from the hire itself. */
export interface AdmissionFacts {
  /** The tenant only observes. */
  observes: boolean;
  /** The tenant takes this job. */
  inScope: boolean;
  /** Another tenant of the same company that has a hire of this application. */
  takenBy: string | undefined;
}

export type Admission =
  | { kind: 'start' }
  /** To be planned and recorded. */
  | { kind: 'observe' }
  /** To be recorded, so that nobody starts it later by themselves. */
  | { kind: 'pass'; why: string };

/** Whoever is recorded was hired, and is never started by itself, even when their job comes into the scope. */
export function judgeAdmission({ observes, inScope, takenBy }: AdmissionFacts): Admission {
  if (!inScope) return { kind: 'pass', why: 'its job is not among those that this tenant takes' };
  if (takenBy !== undefined) return { kind: 'pass', why: `tenant ${takenBy} of the same company has this hire` };
  return { kind: observes ? 'observe' : 'start' };
}
