import { sql } from 'kysely';
import type { HireRef } from '../hire/hire.ts';
import type { ConnectionKey } from './employments.ts';
import { whileKnown } from './hires.ts';
import { has, hireColumns, ofHire, put, readClock, type Store, sameHire } from './open-store.ts';
import { employedRows } from './people.ts';
import type { HireDocumentRow } from './push-tables.ts';
import type { HireRow, Row } from './schema.ts';
import { sealed } from './sealed-values.ts';
import { sendOnce, sentNow } from './send-once.ts';

interface DueHires extends ConnectionKey {
  /** A hire whose documents were looked at is due again after this long, ms. */
  againAfterMs: number;
  /** Only hires that ended in the last so many ms; all if absent. */
  endedWithinMs: number | undefined;
  /** Always due: ids of job candidates, or of their enrolments. */
  hinted: readonly string[];
}

/** The next finished hires whose documents need a look, ordered by id. */
export async function hiresDueForDocuments(
  { kysely, now }: Store,
  { tenantId, connection, againAfterMs, endedWithinMs, hinted }: DueHires,
  after: Pick<HireRow, 'job_candidate_id' | 'period'> | undefined,
): Promise<HireRow[]> {
  let query = kysely
    .selectFrom('hires as h')
    .innerJoin(employedRows({ kysely }).as('l'), (join) =>
      join.onRef('l.employee_id', '=', 'h.employee_id').on('l.connection', '=', connection),
    )
    .leftJoin('document_looks as d', sameHire('d', 'h'))
    .selectAll('h')
    .where(has({ 'h.tenant_id': tenantId, 'h.state': 'done' }))
    .where((eb) => {
      const isLate = eb.or([
        eb('d.looked_at', 'is', null),
        eb('d.again', '=', 1),
        eb('d.looked_at', '<=', eb(now, '-', againAfterMs)),
      ]);
      const isOfLate =
        endedWithinMs === undefined ? isLate : eb.and([isLate, eb('h.ended_at', '>', eb(now, '-', endedWithinMs))]);
      if (hinted.length === 0) return isOfLate;
      return eb.or([isOfLate, eb('h.job_candidate_id', 'in', hinted), eb('h.onboarding_candidate_id', 'in', hinted)]);
    })
    .orderBy('h.job_candidate_id')
    .orderBy('h.period')
    .limit(100);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('h.job_candidate_id', 'h.period'), '>', tuple(after.job_candidate_id, after.period)),
    );
  return query.execute();
}

/** Recorded state of a hire's documents, and the database's clock. */
export async function readHireDocuments(
  store: Store,
  ref: HireRef,
): Promise<{ rows: Map<string, HireDocumentRow>; now: number }> {
  const rows = await store.kysely.selectFrom('hire_documents').selectAll().where(ofHire(ref)).execute();
  return { rows: new Map(rows.map((row) => [row.document, row])), now: await readClock(store) };
}

/** Documents that this run delivered before it was interrupted, and refused ones that a person must change. */
export async function documentsToTell(store: Store, tenantId: string, runId: string): Promise<HireDocumentRow[]> {
  const own = store.kysely.selectFrom('hire_documents').selectAll().where('tenant_id', '=', tenantId);
  return [
    // Written literally, so that the planner uses the partial index.
    ...(await own.where(sql<boolean>`state in ('refused', 'unlike')`).execute()),
    ...(await own.where(has({ state: 'delivered', run_id: runId })).execute()),
  ];
}

interface SendingDocument extends HireRef {
  document: string;
  sha256: string;
  runId: string;
}

/**
 * Commits that a document is about to be sent. False if another process did so first, the document changed since it was
 * decided, or the hire's row is gone.
 */
export async function sendDocument(
  store: Store,
  { document, sha256, runId, ...ref }: SendingDocument,
  before: HireDocumentRow | undefined,
  budgetMs: number,
): Promise<boolean> {
  const key = { ...hireColumns(ref), document };
  const sent = { ...(await sentNow(store, budgetMs)), sha256, reason: null, run_id: runId, read_back_at: null };
  const row = await whileKnown(store, ref, (open) => sendOnce(open, 'hire_documents', { key, sent, before }));
  return row !== undefined;
}

export interface SettledDocument {
  state: Exclude<Row<'hire_documents'>['state'], 'sent'>;
  reason: string | null;
  /** The HRIS was just seen to hold it. */
  isReadBack?: boolean;
}

/** Records the outcome of the latest attempt at a document; an earlier attempt's outcome is ignored. */
export async function settleDocument(
  store: Store,
  { document, attempt, ...ref }: HireRef & { document: string; attempt: number },
  { isReadBack = false, ...settled }: SettledDocument,
): Promise<void> {
  const unsent = { sha256: null, sent_at: null, give_up_at: null, run_id: null };
  const reason = await sealed(store, 'hire_documents.reason', ref.tenantId, settled.reason);
  const outcome = { ...settled, reason, ...(isReadBack && { read_back_at: store.now }) };
  await whileKnown(store, ref, ({ kysely }) =>
    kysely
      .insertInto('hire_documents')
      .values({ ...hireColumns(ref), document, attempt, ...unsent, ...outcome })
      .onConflict((c) =>
        c
          .columns(['tenant_id', 'job_candidate_id', 'period', 'document'])
          .doUpdateSet(outcome)
          .where('hire_documents.attempt', '=', attempt),
      )
      .execute(),
  );
}

/** Records that a hire's documents were looked at; `again`: some were left over. */
export async function noteDocumentLook(store: Store, ref: HireRef, again: boolean): Promise<void> {
  const look = { looked_at: store.now, again: again ? 1 : 0 };
  const key = ['tenant_id', 'job_candidate_id', 'period'] as const;
  const row = { ...hireColumns(ref), ...look };
  await whileKnown(store, ref, (open) => put(open, 'document_looks', [row], { key, set: ['looked_at', 'again'] }));
}
