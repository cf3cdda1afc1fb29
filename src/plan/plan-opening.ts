import { asksToCancel } from '../hire/answers.ts';
import { type HireState, isResting } from '../hire/hire.ts';

/** What the store holds of an application when somebody asks for its hire. */
export interface KnownHire {
  /** The newest period. */
  latest: { period: number; state: HireState; employeeId: string | null } | undefined;
  /** The hold that was answered last. */
  lastAnswered: { holdId: string; code: string; isClosed: boolean } | undefined;
  /** Every answer given in this period, oldest first. */
  answers: ReadonlyArray<{ answer: string }>;
}

type Opening =
  /** Nobody is hired by a stale event: a new period begins only while the person is in the stage. */
  | { kind: 'look'; period: number }
  | { kind: 'closed' }
  /** A person asked for a hire of before go-live, or for one that was ended by somebody's word. */
  | { kind: 'reopen' }
  | {
      kind: 'resume';
      step: 'enrol' | 'write-back' | 'watch-done' | 'cancel';
      /** Answered, and not yet acted upon. */
      hold?: { holdId: string; code: string };
    };

/** Where a hire begins or goes on; what is recorded counts, whatever Temporal still remembers. */
export function planOpening(known: KnownHire, asked: { adopt: boolean; watch: boolean }): Opening {
  const { latest } = known;
  if (latest === undefined || latest.state === 'left') return { kind: 'look', period: (latest?.period ?? 0) + 1 };
  if (isResting(latest.state)) return { kind: asked.adopt ? 'reopen' : 'closed' };
  const hold = unheard(known);
  if (latest.state === 'done') return resumeDone(hold, asked.watch);
  const step = latest.employeeId === null ? 'enrol' : 'write-back';
  if (hold !== undefined) return { kind: 'resume', step, hold };
  return { kind: 'resume', step: step === 'enrol' && asksToCancel(known.answers) ? 'cancel' : step };
}

/** The employee is there; what is left is a person who may have gone since, or an answer about that. */
function resumeDone(hold: { holdId: string; code: string } | undefined, watch: boolean): Opening {
  if (hold !== undefined) return { kind: 'resume', step: 'watch-done', hold };
  return watch ? { kind: 'resume', step: 'watch-done' } : { kind: 'closed' };
}

/** What was answered and a lost workflow did not come to do is done first: the word must not be lost with it. */
function unheard({ lastAnswered }: KnownHire): { holdId: string; code: string } | undefined {
  if (lastAnswered === undefined || lastAnswered.isClosed) return undefined;
  return { holdId: lastAnswered.holdId, code: lastAnswered.code };
}

/** What stands against starting a hire, apart from the hire itself. */
interface AdmissionFacts {
  /** The tenant only observes. */
  observes: boolean;
  /** The tenant takes this job. */
  inScope: boolean;
  /** Another tenant of the same company that has a hire of this application. */
  takenBy: string | undefined;
}

type Admission =
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
