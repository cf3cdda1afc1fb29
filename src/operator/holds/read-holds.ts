import { ConnectorError } from '../../errors.ts';
import { earlierAnswers, listHolds as listRows, readHold as readRow } from '../../store/holds.ts';
import type { Store } from '../../store/open-store.ts';
import type { HoldRow } from '../../store/schema.ts';
import { answerText } from './answer-text.ts';

/** One hold as people see it. */
export interface HoldView {
  holdId: string;
  tenantId: string;
  /** Null for a hold of the whole tenant. */
  jobCandidateId: string | null;
  period: number | null;
  code: string;
  message: string;
  state: 'open' | 'answered' | 'closed';
  answers: string[];
  /** The answers as they are typed, with what they take. */
  answerTexts: string[];
  details: Record<string, unknown>;
  openedAt: string;
  answer: string | null;
  answeredBy: string | null;
  /** Each retry that found the cause still there, oldest first. */
  earlierAnswers: { answer: string; by: string | null; at: string }[];
}

/** Holds with their age, oldest first; closed ones only with `all`. */
export async function listHolds(
  store: Store,
  filter: { tenantId?: string; all?: boolean },
): Promise<(HoldView & { ageMs: number })[]> {
  const rows = await listRows(store, filter);
  return rows.map((row) => ({ ...viewHold(row), ageMs: Number(row.now) - Number(row.opened_at) }));
}

/** Holds of one tenant that wait for the same reason. */
export interface HoldGroup {
  tenantId: string;
  code: string;
  /** Oldest first. */
  holds: (HoldView & { ageMs: number })[];
}

/** The largest group first. */
export function groupHolds(holds: readonly (HoldView & { ageMs: number })[]): HoldGroup[] {
  const groups = Map.groupBy(holds, ({ tenantId, code }) => `${tenantId} ${code}`);
  return [...groups.values()]
    .flatMap((own) => (own[0] === undefined ? [] : [{ tenantId: own[0].tenantId, code: own[0].code, holds: own }]))
    .sort((a, b) => b.holds.length - a.holds.length);
}

/** @throws ConnectorError HOLD_UNKNOWN */
export async function readHold(store: Store, holdId: string): Promise<HoldView> {
  return viewHold(await readHoldRow(store, holdId));
}

/** @throws ConnectorError HOLD_UNKNOWN */
export async function readHoldRow(store: Store, holdId: string): Promise<HoldRow> {
  const row = await readRow(store, holdId);
  if (row !== undefined) return row;
  throw new ConnectorError({
    code: 'HOLD_UNKNOWN',
    action: 'reject',
    message: `There is no hold ${holdId} in this store. List them with: hirebridge hold list --all`,
  });
}

function viewHold(row: HoldRow): HoldView {
  const answers = JSON.parse(row.answers) as string[];
  return {
    holdId: row.hold_id,
    tenantId: row.tenant_id,
    jobCandidateId: row.job_candidate_id,
    period: row.period,
    code: row.code,
    message: row.message,
    state: stateOf(row),
    answers,
    answerTexts: answers.map((answer) => answerText(answer, row.job_candidate_id !== null)),
    details: JSON.parse(row.details) as Record<string, unknown>,
    openedAt: new Date(Number(row.opened_at)).toISOString(),
    answer: row.answer,
    answeredBy: row.answered_by,
    earlierAnswers: earlierAnswers(row).map(({ at, ...given }) => ({ ...given, at: new Date(at).toISOString() })),
  };
}

function stateOf(row: HoldRow): HoldView['state'] {
  if (row.closed_at !== null) return 'closed';
  return row.answered_at === null ? 'open' : 'answered';
}
