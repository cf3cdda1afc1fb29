import { asksToCancel } from '../hire/answers.ts';
import { type HireState, isResting } from '../hire/hire-state.ts';

/** What the store holds of an application when somebody asks for its hire. */
export interface KnownHire {
  /** The newest period. */
  latest: { period: number; state: HireState; employeeId: string | null } | undefined;
  /** The hold that was answered last. */
  lastAnswered: { holdId: string; code: string; isClosed: boolean } | undefined;
  /** Every answer given in this period, oldest first. */
  answers: ReadonlyArray<{ answer: string }>;
}

export type Opening =
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
