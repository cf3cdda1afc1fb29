import type { SignalHire } from '../../../activities/deps.ts';
import { hearAnswer, sideKeptBy } from '../../../activities/hear-answer.ts';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import { audit } from '../../store/audit.ts';
import { hasUndecided } from '../../store/field-conflicts.ts';
import { listHolds, answerHold as writeAnswer } from '../../store/holds.ts';
import type { Store } from '../../store/open-store.ts';
import type { HoldRow } from '../../store/schema.ts';
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

/**
 * Stores a person's answer, then tells whoever waits for it; the worker tells them again where that fails.
 * @throws ConnectorError HOLD_UNKNOWN, HOLD_ANSWERED, ANSWER_UNKNOWN, ANSWER_INCOMPLETE, ANSWER_ID_UNKNOWN,
 * CONFLICT_UNKNOWN: nothing is stored then
 */
export async function answerHold({ store, hires }: Parts, given: HoldAnswer): Promise<void> {
  const { holdId } = given;
  const hold = await checkAnswer(store, given);
  const isFirst = await store.kysely.transaction().execute(async (kysely) => {
    const trx = { ...store, kysely };
    if (!(await writeAnswer(trx, holdId, given))) return false;
    await audit(trx, { by: given.by, tenantId: hold.tenant_id, act: 'hold-answered', details: describe(hold, given) });
    return true;
  });
  if (!isFirst) throw refused('HOLD_ANSWERED', `Hold ${holdId} is answered already; the first answer stands.`);
  const answered = { ...hold, answer: given.answer, answer_arguments: JSON.stringify(given.arguments) };
  const tell: SignalHire = (hire, about, options) => signalHire(hires, hire, about, options);
  await hearAnswer({ store, signalHire: tell }, answered);
}

function describe({ hold_id: holdId, code, job_candidate_id: of }: HoldRow, given: HoldAnswer): string {
  const words = [given.answer, ...given.arguments].join(' ');
  return `${code}${of === null ? '' : ` of job candidate ${of}`} (hold ${holdId}): ${words}`;
}

/** What `answerHold` refuses before it stores anything. Returns the hold. @throws ConnectorError as there */
export async function checkAnswer(store: Store, given: Omit<HoldAnswer, 'by'>): Promise<HoldRow> {
  const hold = await readHoldRow(store, given.holdId);
  assertAccepted(hold, given);
  await assertIdsKnown(store, hold, given);
  return hold;
}

/** An id that nothing is known of would be an answer to nothing, and the hold closed all the same. */
async function assertIdsKnown(
  store: Store,
  { tenant_id: tenantId, job_candidate_id: jobCandidateId, details, hold_id: holdId }: HoldRow,
  { answer, arguments: ids }: Omit<HoldAnswer, 'by'>,
): Promise<void> {
  if (jobCandidateId !== null) return;
  const facts = JSON.parse(details) as { stream?: string; jobCandidateIds?: string[] };
  if (sideKeptBy(answer) !== undefined && facts.stream !== undefined) {
    if (await hasUndecided(store, { tenantId, stream: facts.stream }, ids)) return;
    throw refused('CONFLICT_UNKNOWN', `No open conflict of ${facts.stream} has one of these ids.`);
  }
  const unknown = answer === 'adopt' ? ids.filter((id) => facts.jobCandidateIds?.includes(id) !== true) : [];
  if (unknown.length === 0) return;
  throw refused(
    'ANSWER_ID_UNKNOWN',
    `Hold ${holdId} does not ask about ${unknown.join(', ')}. ` +
      `See whom it asks about with: hirebridge hold show ${holdId}`,
  );
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

function refused(code: string, message: string): ConnectorError {
  return new ConnectorError({ code, action: 'reject', message });
}
