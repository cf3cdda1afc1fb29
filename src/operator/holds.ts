import { hearAnswer, sideKeptBy } from '../../activities/hear-answer.ts';
import { type ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { entryOf } from '../hire/answers.ts';
import type { SignalHire } from '../hire/hire.ts';
import { nearest } from '../in-words.ts';
import { audit } from '../store/audit.ts';
import { hasUndecided, undecidedAmong } from '../store/field-conflicts.ts';
import {
  earlierAnswers,
  type HoldFilter,
  listHolds as listRows,
  questionAfter,
  readHold as readRow,
  answerHold as writeAnswer,
} from '../store/holds.ts';
import type { Store } from '../store/open-store.ts';
import type { HoldRow } from '../store/schema.ts';
import { signalHire } from '../temporal/hire-client.ts';
import type { OperatorParts } from './open-tenant.ts';
import { assertNotRemoved } from './tenants.ts';

/** Holds with their age, oldest first; closed ones only with `all`. */
export async function listHolds(store: Store, filter: HoldFilter): Promise<(HoldView & { ageMs: number })[]> {
  return (await listRows(store, filter)).map(viewAged);
}

function viewAged(row: HoldRow & { now: number }): HoldView & { ageMs: number } {
  return { ...viewHold(row), ageMs: Number(row.now) - Number(row.opened_at) };
}

/** `askedNow`: the open question in place of one that is over. @throws ConnectorError HOLD_UNKNOWN */
export async function readHold(store: Store, holdId: string): Promise<HoldView & { askedNow?: string }> {
  const row = await readHoldRow(store, holdId);
  const anew = stateOf(row) === 'open' ? undefined : await questionAfter(store, row);
  return { ...viewHold(row), ...(anew === undefined ? {} : { askedNow: anew.hold_id }) };
}

/** @throws ConnectorError HOLD_UNKNOWN */
async function readHoldRow(store: Store, holdId: string): Promise<HoldRow> {
  const row = await readRow(store, holdId);
  if (row !== undefined) return row;
  const open = (await listRows(store)).map((one) => one.hold_id);
  throw holdUnknown(holdId, open.find((id) => holdId.length > 2 && id.startsWith(holdId)) ?? nearest(holdId, open));
}

export function holdUnknown(holdId: string, near?: string): ConnectorError {
  const next = near === undefined ? 'List them with: hirebridge hold list --all' : `Did you mean "${near}"?`;
  return rejected('HOLD_UNKNOWN', `There is no hold ${holdId} in this store. ${next}`);
}

/** A hold for display. */
export type HoldView = ReturnType<typeof viewHold>;

function viewHold(row: HoldRow) {
  const answers = JSON.parse(row.answers) as string[];
  return {
    holdId: row.hold_id,
    tenantId: row.tenant_id,
    /** Null for a hold of the whole tenant. */
    jobCandidateId: row.job_candidate_id,
    period: row.period,
    code: row.code,
    message: row.message,
    state: stateOf(row),
    answers,
    /** The answers as typed, with their arguments. */
    answerTexts: answers.map((answer) => answerText(answer, row.job_candidate_id !== null)),
    details: JSON.parse(row.details) as Record<string, unknown>,
    openedAt: new Date(Number(row.opened_at)).toISOString(),
    answer: row.answer,
    answeredBy: row.answered_by,
    /** Each retry after which the cause persisted, oldest first. */
    earlierAnswers: earlierAnswers(row).map(({ at, ...given }) => ({ ...given, at: new Date(at).toISOString() })),
  };
}

/** What is known beside the question, in plain words; not what the question itself says. */
export function detailsOf({ details, message }: Pick<HoldView, 'details' | 'message'>): [string, string][] {
  return Object.entries(details)
    .filter(([name]) => name !== 'jobCandidateId')
    .map(([name, value]): [string, string] => [plainName(name), detailText(value)])
    .filter(([, text]) => text.length < 20 || !message.includes(text));
}

/** One of our names in plain words: `employeeIds` becomes `employee IDs`. */
function plainName(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, (_all, before: string, after: string) => `${before} ${after.toLowerCase()}`)
    .replaceAll(/\bid(s?)\b/g, 'ID$1');
}

function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map(detailText).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
}

function stateOf(row: HoldRow): 'open' | 'answered' | 'closed' {
  if (row.closed_at !== null) return 'closed';
  return row.answered_at === null ? 'open' : 'answered';
}

export interface HoldAnswer {
  holdId: string;
  answer: string;
  arguments: readonly string[];
  /** The person who answers. */
  by: string;
}

type Parts = Pick<OperatorParts, 'store' | 'hires'>;

/**
 * Stores a person's answer and signals the waiting workflow. On an error nothing is stored. A signal that fails is no
 * error: the worker repeats it.
 * @throws ConnectorError HOLD_UNKNOWN, HOLD_ANSWERED, TENANT_REMOVED, ANSWER_UNKNOWN, ANSWER_INCOMPLETE,
 * ANSWER_ID_UNKNOWN, CONFLICT_UNKNOWN
 */
export async function answerHold({ store, hires }: Parts, given: HoldAnswer): Promise<HoldView> {
  const { holdId } = given;
  const hold = await checkAnswer(store, given);
  const isFirst = await store.kysely.transaction().execute(async (kysely) => {
    const trx = { ...store, kysely };
    if (!(await writeAnswer(trx, holdId, given))) return false;
    await audit(trx, { by: given.by, tenantId: hold.tenant_id, act: 'hold-answered', details: describe(hold, given) });
    return true;
  });
  if (!isFirst) throw await tooLate(store, await readHoldRow(store, holdId));
  const answered = { ...hold, answer: given.answer, answer_arguments: JSON.stringify(given.arguments) };
  const tell: SignalHire = (hire, about, options) => signalHire(hires, hire, about, options);
  await hearAnswer({ store, signalHire: tell }, answered).catch(() => undefined);
  return viewHold(answered);
}

async function tooLate(store: Store, row: HoldRow): Promise<ConnectorError> {
  const { hold_id: holdId, answered_at: answeredAt, tenant_id: tenantId, job_candidate_id: hire } = row;
  const anew = await questionAfter(store, row);
  if (anew !== undefined)
    return rejected(
      'HOLD_ANSWERED',
      `Hold ${holdId} asks no more, and another question is open in its place. Nothing was changed. Look at it ` +
        `before you answer it (${anew.code}): hirebridge hold show ${anew.hold_id}`,
    );
  if (answeredAt !== null)
    return rejected('HOLD_ANSWERED', `Hold ${holdId} is answered already; the first answer stands.`);
  const next = hire === null ? 'hirebridge status' : `hirebridge hire show ${tenantId} ${hire}`;
  return rejected(
    'HOLD_ANSWERED',
    `Hold ${holdId} closed without an answer, because its cause is gone or its hire has ended. Nothing was changed. ` +
      `How it stands now: ${next}`,
  );
}

function describe({ hold_id: holdId, code, job_candidate_id: of }: HoldRow, given: HoldAnswer): string {
  const words = [given.answer, ...given.arguments].join(' ');
  return `${code}${of === null ? '' : ` of job candidate ${of}`} (hold ${holdId}): ${words}`;
}

/** Runs the checks of `answerHold` without storing anything. Returns the hold. @throws ConnectorError as there */
export async function checkAnswer(store: Store, given: Omit<HoldAnswer, 'by'>): Promise<HoldRow> {
  const hold = await readHoldRow(store, given.holdId);
  await assertNotRemoved(store, hold.tenant_id);
  if (stateOf(hold) !== 'open') throw await tooLate(store, hold);
  assertAccepted(hold, given);
  await assertIdsKnown(store, hold, given);
  return hold;
}

/** Rejects unknown ids: such an answer would do nothing and still close the hold. */
async function assertIdsKnown(
  store: Store,
  { tenant_id: tenantId, job_candidate_id: jobCandidateId, details, hold_id: holdId, opened_at: at }: HoldRow,
  { answer, arguments: ids }: Omit<HoldAnswer, 'by'>,
): Promise<void> {
  if (jobCandidateId !== null) return;
  const facts = JSON.parse(details) as { stream?: string; jobCandidateIds?: string[] };
  if (sideKeptBy(answer) !== undefined && facts.stream !== undefined) {
    const asked = { tenantId, stream: facts.stream, askedAt: Number(at) };
    const list = `List them with: hirebridge conflicts ${tenantId}`;
    const waiting = new Set(await undecidedAmong(store, asked, ids));
    const over = ids.filter((id) => !waiting.has(id));
    if (over.length > 0)
      throw rejected(
        'CONFLICT_UNKNOWN',
        `No conflict of ${facts.stream} that waits has one of these ids: ${over.join(', ')}. ${list}`,
      );
    if (ids.length > 0 || (await hasUndecided(store, asked))) return;
    throw rejected(
      'CONFLICT_UNKNOWN',
      `Hold ${holdId} asked about conflicts that are settled by now. The next run of ${facts.stream} asks about ` +
        `those found since. ${list}`,
    );
  }
  const unknown = answer === 'adopt' ? ids.filter((id) => facts.jobCandidateIds?.includes(id) !== true) : [];
  if (unknown.length === 0) return;
  throw rejected(
    'ANSWER_ID_UNKNOWN',
    `Hold ${holdId} does not ask about ${unknown.join(', ')}. ` +
      `See whom it asks about with: hirebridge hold show ${holdId}`,
  );
}

/** What the same answer for many holds did; `left`: the holds that stay as they were, and why. */
export interface ManyAnswered {
  answered: string[];
  left: { holdId: string; why: string }[];
}

/**
 * Gives the same answer to every open hold with one code; with `until` only to those that were opened by the time of
 * that hold, because its giver saw no later one. Only `retry` decides nothing, and needs no `until`. `since`: how many
 * were opened after it.
 * @throws ConnectorError HOLD_UNKNOWN, ANSWER_UNKNOWN, ANSWER_INCOMPLETE, TENANT_REMOVED
 */
export async function answerHolds(
  parts: Parts,
  which: { code: string; tenantId?: string | undefined; until?: string | undefined },
  given: Pick<HoldAnswer, 'answer' | 'by'>,
): Promise<ManyAnswered & { since: number }> {
  const { tenantId, code, until } = which;
  if (tenantId !== undefined) await assertNotRemoved(parts.store, tenantId);
  const last = until === undefined ? Number.POSITIVE_INFINITY : (await readHoldRow(parts.store, until)).opened_at;
  const rows = await listRows(parts.store, tenantId === undefined ? {} : { tenantId });
  const asking = rows.filter((row) => row.answered_at === null);
  const open = asking.filter((row) => row.code === code);
  if (open.length === 0) {
    const near = nearest(code, [...new Set(asking.map((row) => row.code))]);
    const next = near === undefined ? 'List them with: hirebridge hold list' : `Did you mean "${near}"?`;
    throw rejected('HOLD_UNKNOWN', `No open hold has the reason ${code}. ${next}`);
  }
  const seen = open.filter((row) => Number(row.opened_at) <= Number(last));
  for (const row of seen) assertAccepted(row, { ...given, holdId: row.hold_id, arguments: [] });
  if (until === undefined && given.answer !== 'retry')
    throw rejected(
      'ANSWER_INCOMPLETE',
      `The answer ${given.answer} to every hold of ${code} would also reach those that you have not seen. Name the ` +
        `last one that you saw with --until, as listed by: hirebridge hold list --code ${code}`,
    );
  const ids = seen.map((row) => row.hold_id);
  return { ...(await answerEach(parts, ids, given)), since: open.length - seen.length };
}

/** Gives the same answer to each of these holds; one that is answered, settled or closed by now stays as it is. */
export async function answerEach(
  parts: Parts,
  holdIds: readonly string[],
  given: Pick<HoldAnswer, 'answer' | 'by'>,
): Promise<ManyAnswered> {
  const many: ManyAnswered = { answered: [], left: [] };
  for (const holdId of holdIds)
    try {
      await answerHold(parts, { ...given, holdId, arguments: [] });
      many.answered.push(holdId);
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      many.left.push({ holdId, why: (error as ConnectorError).message });
    }
  return many;
}

/** Since the holds were listed, somebody answered this one, decided what it asks about, or removed its tenant. */
function isOvertaken(error: unknown): boolean {
  return ['HOLD_ANSWERED', 'CONFLICT_UNKNOWN', 'TENANT_REMOVED'].some((code) => isConnectorError(error, code));
}

function assertAccepted(hold: HoldRow, { holdId, answer, arguments: args }: Omit<HoldAnswer, 'by'>): void {
  const accepted = JSON.parse(hold.answers) as string[];
  const isOfHire = hold.job_candidate_id !== null;
  if (!accepted.includes(answer)) {
    const words = accepted.map((one) => answerText(one, isOfHire)).join(', ');
    const takes = accepted.length === 0 ? 'no answer: it closes by itself' : `one of: ${words}`;
    const near = nearest(answer, accepted);
    const next = near === undefined ? `"${answer}" is none of them.` : `Did you mean "${near}"?`;
    throw rejected('ANSWER_UNKNOWN', `Hold ${holdId} (${hold.code}) takes ${takes}. ${next}`);
  }
  const takes = takesOf(answer, isOfHire);
  if (takes !== undefined && args.every((id) => id.trim() === ''))
    throw rejected(
      'ANSWER_INCOMPLETE',
      `The answer ${answer} needs an id: hirebridge hold answer ${holdId} ${answerText(answer, isOfHire)}`,
    );
  const takesMany = takes?.endsWith('...') ?? (!isOfHire && sideKeptBy(answer) !== undefined);
  const most = takes === undefined ? 0 : 1;
  if (takesMany || args.length <= most) return;
  throw rejected(
    'ANSWER_ID_UNKNOWN',
    `The answer ${answer} takes ${most === 0 ? 'no' : 'one'} id, so it was not given. ` +
      `See what each answer takes with: hirebridge hold show ${holdId}`,
  );
}

/** The arguments of an answer; undefined if none. On a hold of the whole tenant `adopt` takes job candidates. */
export function takesOf(answer: string, isOfHire: boolean): string | undefined {
  const takes = entryOf(answer)?.takes;
  if (answer !== 'adopt') return takes;
  return isOfHire ? 'onboardingCandidateId' : 'jobCandidateId...';
}

/** An answer as typed: `link <employeeId>`. */
function answerText(answer: string, isOfHire: boolean): string {
  const takes = takesOf(answer, isOfHire);
  return takes === undefined ? answer : `${answer} <${takes}>`;
}

/** What an answer will do; empty for an unknown word. */
export function answerDoes(answer: string, isOfHire: boolean): string {
  const { does = '', doesForTenant = does } = entryOf(answer) ?? {};
  return isOfHire ? does : doesForTenant;
}
