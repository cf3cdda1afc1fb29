import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import type { EmployeeFiles } from '../../src/hris/port.ts';
import {
  documentsToTell,
  hiresDueForDocuments,
  noteDocumentLook,
  readHireDocuments,
} from '../../src/store/hire-documents.ts';
import { touchRun } from '../../src/store/push-runs.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { DocumentKind } from '../../src/tenants/schema.ts';
import { outcomeUnknown } from '../hire/write-once.ts';
import type { PushContext, Verdict } from '../push/push-context.ts';
import { type Delivered, deliverDocument } from './deliver-document.ts';
import { type ListedDocument, listDocuments } from './list-documents.ts';

/** Documents that come later than this after the end of a hire are found by a pass with `full` only, ms. */
const ENDED_WITHIN_MS = 30 * 86_400_000;

/** What a pass works with and what it found out so far. */
interface DocumentRun {
  context: PushContext;
  files: EmployeeFiles;
  kinds: readonly DocumentKind[];
  verdicts: Map<string, Verdict>;
  waits: number[];
  beat: () => void;
}

/**
 * Documents of finished hires into the records of their employees. A hire is looked at when it has ended, then once in
 * `wholeWithin` for thirty days, because documents may be signed or verified later.
 */
export async function pushDocuments(context: PushContext, beat: () => void): Promise<Verdict[]> {
  const run: DocumentRun = { context, ...wanted(context), verdicts: await told(context), waits: [], beat };
  for await (const hire of dueHires(context)) if (!(await pushHire(run, hire))) break;
  if (run.waits.length > 0) throw outcomeUnknown('A document was sent', Math.max(...run.waits));
  return [...run.verdicts.values()];
}

function wanted({ connection, key }: PushContext): { files: EmployeeFiles; kinds: readonly DocumentKind[] } {
  const { files } = connection.hris;
  const { documents: kinds, hris } = connection.tenant;
  if (kinds === undefined) throw unconfigured(key.tenantId, 'the tenant file does not say which ("documents")');
  if (files === undefined)
    throw unconfigured(key.tenantId, `an HR system of kind ${hris.kind} takes none as it is set`);
  return { files, kinds };
}

/** As the store has them: an attempt that goes on after another counts what that one delivered. */
async function told({ deps, key, runId }: PushContext): Promise<Map<string, Verdict>> {
  const rows = await documentsToTell(deps.store, key.tenantId, runId);
  return new Map(
    rows.map(({ job_candidate_id: jobCandidateId, document, state, reason }) => {
      const id = `${jobCandidateId}/${document}`;
      const verdict = state === 'delivered' ? { kind: 'created' as const } : { kind: 'quarantined' as const };
      return [id, { id, ...verdict, ...(reason === null ? {} : { reason }) }];
    }),
  );
}

async function* dueHires({ deps, connection, key, full }: PushContext): AsyncGenerator<HireRow> {
  const { wholeWithin } = connection.tenant.streams.documents;
  const due = {
    tenantId: key.tenantId,
    connection: connection.tenant.hris.connection,
    againAfterMs: full ? 0 : wholeWithin,
    endedWithinMs: full ? undefined : ENDED_WITHIN_MS,
  };
  for (let after: HireRow | undefined; ; ) {
    const hires = await hiresDueForDocuments(deps.store, due, after);
    yield* hires;
    after = hires.at(-1);
    if (after === undefined) return;
  }
}

/** False where another run took over. */
async function pushHire(run: DocumentRun, hire: HireRow): Promise<boolean> {
  const { context, verdicts, waits } = run;
  const { store } = context.deps;
  const ref = { tenantId: hire.tenant_id, jobCandidateId: hire.job_candidate_id, period: hire.period };
  const listed = await listOrReason(run, hire);
  if ('reason' in listed) {
    verdicts.set(ref.jobCandidateId, { id: ref.jobCandidateId, kind: 'quarantined', reason: listed.reason });
    await noteDocumentLook(store, ref, true);
    return touchRun(store, context.key, context.runId);
  }
  let again = false;
  for (const document of listed.documents) {
    if (!(await touchRun(store, context.key, context.runId))) return false;
    const delivered = await deliverOne(run, { hire, ref, document });
    run.beat();
    again ||= delivered.kind === 'waiting' || delivered.kind === 'skipped';
    const id = `${ref.jobCandidateId}/${document.key}`;
    if (delivered.kind === 'waiting') waits.push(delivered.waitMs);
    else if (delivered.kind !== 'unchanged' || !verdicts.has(id)) verdicts.set(id, { id, ...delivered });
  }
  await noteDocumentLook(store, ref, again);
  return true;
}

async function deliverOne(
  { context, files }: DocumentRun,
  { hire, ref, document }: { hire: HireRow; ref: HireRef; document: ListedDocument },
): Promise<Delivered> {
  const { rows, now } = await readHireDocuments(context.deps.store, ref);
  const row = rows.get(document.key);
  return deliverDocument({ context, files, ref, employeeId: hire.employee_id ?? '', document, row, now });
}

/** One hire whose documents cannot be listed keeps no other waiting. */
async function listOrReason(
  { context, kinds }: DocumentRun,
  hire: HireRow,
): Promise<{ documents: ListedDocument[] } | { reason: string }> {
  try {
    return { documents: await listDocuments(context.connection, hire, kinds) };
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return { reason: error.message };
  }
}

function unconfigured(tenantId: string, why: string): ConnectorError {
  return new ConnectorError({
    code: 'DOCUMENTS_UNCONFIGURED',
    action: 'reject',
    message: `Documents of ${tenantId} cannot go into the HR system: ${why}. Correct the tenant file and apply it.`,
  });
}
