import { asksToCancel } from '../hire/answers.ts';
import { type HireState, type HireStep, isResting } from '../hire/hire.ts';

/** What the store knows of an application when its hire is requested. */
export interface KnownHire {
  /** The newest period. */
  latest: { period: number; state: HireState; step: HireStep; employeeId: string | null } | undefined;
  /** The last answered hold. */
  lastAnswered: { holdId: string; code: string; isClosed: boolean } | undefined;
  /** Every answer given in this period, oldest first. */
  answers: ReadonlyArray<{ answer: string }>;
}

type Opening =
  /** A stale event must hire nobody, so a new period begins only while the person is in the stage. */
  | { kind: 'look'; period: number }
  | { kind: 'closed' }
  /** A person asked for a hire from before go-live, or for one that a person's answer ended. */
  | { kind: 'reopen' }
  | {
      kind: 'resume';
      step: 'enrol' | 'employ' | 'write-back' | 'watch-done' | 'cancel';
      /** Answered but not acted upon yet. */
      hold?: { holdId: string; code: string };
    };

/**
 * Where a hire begins or continues; the store counts, no matter what Temporal remembers. Exception: a workflow that
 * followed a later period (`behind`) proves that the store was restored and that the earlier period is over.
 */
export function planOpening(
  known: KnownHire,
  { adopt, watch, behind = 0 }: { adopt: boolean; watch: boolean; behind?: number },
): Opening {
  const { latest } = known;
  const next = (latest?.period ?? 0) + 1;
  if (latest === undefined || latest.state === 'left' || behind >= next)
    return { kind: 'look', period: Math.max(next, behind) };
  if (isResting(latest.state)) return { kind: adopt ? 'reopen' : 'closed' };
  const hold = unheard(known);
  if (latest.state === 'done') return resumeDone(hold, watch);
  // At `employ` it may have lost its employee to another hire, and an answer gives it one of its own.
  const withEmployee = latest.step === 'employ' ? 'employ' : 'write-back';
  const step = latest.employeeId === null ? 'enrol' : withEmployee;
  if (hold !== undefined) return { kind: 'resume', step, hold };
  return { kind: 'resume', step: step === 'enrol' && asksToCancel(known.answers) ? 'cancel' : step };
}

/** The employee exists; what may be left is a person who has gone since, or an answer about that. */
function resumeDone(hold: { holdId: string; code: string } | undefined, watch: boolean): Opening {
  if (hold !== undefined) return { kind: 'resume', step: 'watch-done', hold };
  return watch ? { kind: 'resume', step: 'watch-done' } : { kind: 'closed' };
}

/** An answer that a lost workflow did not act on goes first, so that it is not lost with the workflow. */
function unheard({ lastAnswered }: KnownHire): { holdId: string; code: string } | undefined {
  if (lastAnswered === undefined || lastAnswered.isClosed) return undefined;
  return { holdId: lastAnswered.holdId, code: lastAnswered.code };
}

/** Facts about the surroundings of a hire that may forbid its start. */
interface AdmissionFacts {
  /** The tenant only observes. */
  observes: boolean;
  /** The tenant takes this job. */
  inScope: boolean;
  /** Another tenant of the same company with a hire of this application. */
  takenBy: string | undefined;
}

type Admission =
  | { kind: 'start' }
  /** Plan and record the hire. */
  | { kind: 'observe' }
  /** Record the hire, so that it never starts by itself later. */
  | { kind: 'pass'; why: string };

/** Whether a hire starts. A recorded hire never starts by itself, even if its job comes into the scope later. */
export function judgeAdmission({ observes, inScope, takenBy }: AdmissionFacts): Admission {
  if (!inScope) return { kind: 'pass', why: "its job is outside this tenant's scope" };
  if (takenBy !== undefined) return { kind: 'pass', why: `tenant ${takenBy} of the same company has this hire` };
  return { kind: observes ? 'observe' : 'start' };
}
