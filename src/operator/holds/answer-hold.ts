import { ConnectorError, isConnectorError } from '../../errors.ts';
import { type HoldCode, holdOf } from '../../hire/holds.ts';
import type { Side } from '../../hire/side.ts';
import { releaseCanary } from '../../store/credit-gate.ts';
import { decideConflicts } from '../../store/field-conflicts.ts';
import { addHints } from '../../store/hints.ts';
import { hiresInState, latestHires } from '../../store/hires.ts';
import { closeHold, listHolds, openHold, answerHold as writeAnswer } from '../../store/holds.ts';
import type { Store } from '../../store/open-store.ts';
import type { HoldRow } from '../../store/schema.ts';
import type { HireClient } from '../../temporal/hire-client.ts';
import { signalHire } from '../../temporal/signal-hire.ts';
import type { OperatorParts } from '../operator-parts.ts';
import { answerText, takesOf } from './answer-text.ts';
import { readHoldRow } from './read-holds.ts';

export interface HoldAnswer {
  holdId: string;
  answer: string;
  arguments: readonly string[];
  /** Who answers. */
  by: string;
}

type Parts = Pick<OperatorParts, 'store' | 'hires'>;

/** Stores a person's answer, then hints what waits for it: a reconcile makes up for a lost signal. */
export async function answerHold({ store, hires }: Parts, given: HoldAnswer): Promise<void> {
  const { holdId, answer, arguments: args } = given;
  const hold = await readHoldRow(store, holdId);
  assertAccepted(hold, given);
  if (!(await writeAnswer(store, holdId, given)))
    throw refused('HOLD_ANSWERED', `Hold ${holdId} is answered already; the first answer stands.`);
  const { tenant_id: tenantId, job_candidate_id: jobCandidateId } = hold;
  if (jobCandidateId !== null)
    return void (await signalHire(hires, { tenantId, jobCandidateId }, 'answer', { start: true }));
  if (answer === 'adopt') await adoptHires(hires, tenantId, args);
  if (answer === 'retry' && hold.code === ('CREDITS_USED_UP' satisfies HoldCode))
    await retryEnrolments(store, hires, tenantId);
  const side = KEPT[answer];
  if (side !== undefined) await keepSide(store, hold, side, args);
  await closeHold(store, holdId);
  if (answer === 'retry' && hold.code === ('REBUILT_BASELINE' satisfies HoldCode)) await askAgain(store, hold);
  // Trouble with the HR system is looked for by the worker all the time: with its hold closed it is told anew.
}

/** Answers that say whose values stay. */
const KEPT: Readonly<Record<string, Side>> = {
  'keep-partner': 'partner',
  'keep-hris': 'hris',
  apply: 'partner',
  keep: 'hris',
};

/** The pairs are read again by the stream's next run, which asks anew about those that were left out. */
async function keepSide(
  store: Store,
  { tenant_id: tenantId, details }: HoldRow,
  keep: Side,
  ids: readonly string[],
): Promise<void> {
  const { stream } = JSON.parse(details) as { stream: string };
  const pairs = await decideConflicts(store, { tenantId, stream, keep }, ids);
  if (pairs.length === 0) throw refused('CONFLICT_UNKNOWN', `No open conflict of ${stream} has one of these ids.`);
  await addHints(store, tenantId, stream, pairs);
}

/** Asks about those who still are as the baseline recorded them, if there are any. */
async function askAgain(store: Store, { tenant_id: tenantId, details }: HoldRow): Promise<void> {
  const { jobCandidateIds } = JSON.parse(details) as { jobCandidateIds: string[] };
  const hires = await latestHires(store, tenantId, jobCandidateIds);
  const waiting = jobCandidateIds.filter((id) => hires.get(id)?.state === 'before-go-live');
  if (waiting.length === 0) return;
  await openHold(store, { tenantId, ...holdOf('REBUILT_BASELINE', { jobCandidateIds: waiting }) });
}

/**
 * Gives the same answer to every open hold of one reason. Says how many there were; one that somebody else answers
 * meanwhile keeps that answer. @throws ConnectorError HOLD_UNKNOWN, ANSWER_UNKNOWN, ANSWER_INCOMPLETE
 */
export async function answerHolds(
  parts: Parts,
  which: { code: string; tenantId?: string },
  given: Pick<HoldAnswer, 'answer' | 'by'>,
): Promise<number> {
  const { tenantId, code } = which;
  const rows = await listHolds(parts.store, tenantId === undefined ? {} : { tenantId });
  const open = rows.filter((row) => row.code === code && row.answered_at === null);
  if (open.length === 0)
    throw refused('HOLD_UNKNOWN', `No open hold has the reason ${code}. List them with: hirebridge hold list`);
  for (const row of open) assertAccepted(row, { ...given, holdId: row.hold_id, arguments: [] });
  let answered = 0;
  for (const row of open) {
    const one = answerHold(parts, { ...given, holdId: row.hold_id, arguments: [] });
    const taken = one.then(
      () => true,
      (error: unknown) => (isConnectorError(error, 'HOLD_ANSWERED') ? false : Promise.reject(error as Error)),
    );
    if (await taken) answered += 1;
  }
  return answered;
}

function assertAccepted(hold: HoldRow, { holdId, answer, arguments: args }: Omit<HoldAnswer, 'by'>): void {
  const accepted = JSON.parse(hold.answers) as string[];
  const isOfHire = hold.job_candidate_id !== null;
  if (!accepted.includes(answer)) {
    const words = accepted.map((one) => answerText(one, isOfHire)).join(', ');
    const takes = accepted.length === 0 ? 'no answer: it closes by itself' : `one of: ${words}`;
    throw refused('ANSWER_UNKNOWN', `Hold ${holdId} (${hold.code}) takes ${takes}. "${answer}" is none of them.`);
  }
  if (takesOf(answer, isOfHire) === undefined || args.length > 0) return;
  throw refused(
    'ANSWER_INCOMPLETE',
    `The answer ${answer} needs an id: hirebridge hold answer ${holdId} ${answerText(answer, isOfHire)}`,
  );
}

/** Starts the hires that were named; the others stay as they are. */
async function adoptHires(hires: HireClient, tenantId: string, jobCandidateIds: readonly string[]): Promise<void> {
  for (const jobCandidateId of jobCandidateIds)
    await signalHire(hires, { tenantId, jobCandidateId }, 'person', { start: true, adopt: true });
}

/** Lets the next enrolment through as the canary, and hints those that wait. */
async function retryEnrolments(store: Store, hires: HireClient, tenantId: string): Promise<void> {
  await releaseCanary(store, tenantId);
  const open = await hiresInState(store, tenantId, 'open');
  for (const hire of open.filter((one) => one.step === 'await-credits'))
    await signalHire(hires, { tenantId, jobCandidateId: hire.job_candidate_id }, 'credits', { start: true });
}

function refused(code: string, message: string): ConnectorError {
  return new ConnectorError({ code, action: 'reject', message });
}
