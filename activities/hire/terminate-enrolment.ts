import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { terminalStatuses } from '../../src/partner/contract/onboarding-candidate.ts';
import { liveEnrolment, mayBeTerminatedByUs } from '../../src/plan/plan-cancel.ts';
import { latestIntent } from '../../src/store/intents.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import { findEnrolments } from './find-enrolment.ts';
import { enrolmentReference } from './hire-references.ts';
import { noteWrites } from './note-writes.ts';
import type { HireContext } from './with-hire.ts';
import { type Elapsed, type OnceOptions, type Seen, settleEarlier, startClock, writeOnce } from './write-once.ts';

type Termination = OnceOptions<null, { reason: string }>;

/** Ends the live enrolment of this hire, and keeps that it was us. One that is terminal already is left as it is. */
export async function terminateEnrolment(
  hire: HireContext,
  reason: string,
  sinceRead: Elapsed,
): Promise<{ verdict: 'ended' } | Held> {
  const ids = await enrolmentIds(hire);
  if (ids.length === 0) return { verdict: 'ended' };
  const once = await writeOnce(terminationOf(hire, { ids, reason, sinceRead }));
  if (once.kind !== 'refused') return { verdict: 'ended' };
  const { code, message } = once.error;
  const { jobCandidateId } = hire.ref;
  return held('TERMINATE_REFUSED', { jobCandidateId, onboardingCandidateIds: ids, refusal: code, said: message });
}

/**
 * True when we ended this enrolment ourselves, also when the answer to that was lost. Asked when the person is back
 * in the stage while their hire is being cancelled: after our own termination that is a new period, and no question
 * to anybody.
 */
export async function isTerminatedByUs(hire: HireContext): Promise<boolean> {
  const latest = await latestIntent(hire.store, hire.ref, verbOf(hire.row));
  if (!mayBeTerminatedByUs(latest)) return false;
  const ids = await enrolmentIds(hire);
  const settled = await settleEarlier(terminationOf(hire, { ids, reason: '', sinceRead: startClock() }));
  return settled.kind === 'adopted';
}

function verbOf({ enrolment }: HireRow): string {
  return `terminate:${enrolment}`;
}

function terminationOf(
  hire: HireContext,
  { ids, reason, sinceRead }: { ids: readonly string[]; reason: string; sinceRead: Elapsed },
): Termination {
  const {
    store,
    deps: { limits },
    connection,
    ref: key,
    row,
  } = hire;
  return {
    store,
    key,
    verb: verbOf(row),
    pinned: () => ({ reason }),
    giveUpMs: limits.giveUpMs,
    readLagMs: limits.partnerLagMs,
    look: () => lookForEnd(connection, ids),
    sinceRead,
    note: (_pinned, { verb, attempt }) =>
      noteWrites(
        hire,
        [
          {
            target: 'enrolment',
            foreignId: ids.join(' '),
            kind: 'end',
            changes: { status: { new: 'terminated' } },
            sensitive: [],
          },
        ],
        { verb, attempt },
      ),
    async send(body, { signal, beforeSend }) {
      for (const onboardingCandidateId of ids) {
        const request = { params: { onboardingCandidateId }, body };
        await connection.partner.onboarding
          .terminate(request, { priority: 'live', signal, beforeSend })
          .catch(unlessThereIsNothingToEnd);
      }
      return null;
    },
  };
}

async function lookForEnd({ partner }: Connection, ids: readonly string[]): Promise<Seen<null>> {
  for (const onboardingCandidateId of ids) {
    try {
      const { data } = await partner.onboarding.getCandidate(
        { params: { onboardingCandidateId } },
        { priority: 'live' },
      );
      if (!terminal.has(String(data.overallStatus))) return { kind: 'absent' };
    } catch (error) {
      // What is not shown is asked for all the same: a 404 to a look proves nothing.
      if (isConnectorError(error, 'NOT_FOUND')) return { kind: 'absent' };
      throw error;
    }
  }
  return { kind: 'found', value: null };
}

const terminal: ReadonlySet<string> = new Set(terminalStatuses);

function unlessThereIsNothingToEnd(error: unknown): void {
  if (!isConnectorError(error, 'ALREADY_TERMINAL') && !isConnectorError(error, 'NOT_FOUND')) throw error;
}

async function enrolmentIds({ store, connection, ref, row }: HireContext): Promise<string[]> {
  const enrolling = await latestIntent(store, ref, `enrol:${row.enrolment}`);
  const live = liveEnrolment(row.onboarding_candidate_id, enrolling);
  if (live.kind === 'none') return [];
  if (live.kind === 'known') return [live.onboardingCandidateId];
  if (live.kind === 'wait') throw underWay(ref, live.waitMs);
  const hits = await findEnrolments(connection, enrolmentReference(ref, row.enrolment));
  return hits.map((hit) => hit.onboardingCandidateId);
}

export function underWay(ref: HireRef, waitMs: number): ConnectorError {
  return new ConnectorError({
    code: 'OUTCOME_UNKNOWN',
    action: 'unknown',
    message:
      `A request for job candidate ${ref.jobCandidateId} may still be under way. ` +
      'The hire is cancelled after its deadline.',
    retryAfterMs: waitMs + 50,
  });
}
