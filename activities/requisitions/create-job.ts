import { isConnectorError } from '../../src/errors.ts';
import type { JobInput } from '../../src/partner/contract/jobs.ts';
import { BY_ITSELF, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import type { RequisitionRow } from '../../src/store/push-tables.ts';
import { linkRequisition, sendRequisition, settleRequisition } from '../../src/store/requisitions.ts';
import { newValues } from '../hire/note-writes.ts';
import { guardFor, startClock } from '../hire/write-once.ts';
import type { RequisitionRun } from './requisition-run.ts';
import type { WantedJob } from './wanted-job.ts';

/** What became of asking for a job. unknown: it left, and no answer came. taken: somebody else is at it. */
export type Created = { kind: 'created' } | { kind: 'refused'; reason: string } | { kind: 'unknown' | 'taken' };

/** Asks for a job at most once: intent, call, outcome. Whoever calls has looked for it before. */
export async function createJob(
  run: RequisitionRun,
  wanted: WantedJob,
  before: RequisitionRow | undefined,
): Promise<Created> {
  const { deps, key, runId, connection } = run;
  const { store, limits } = deps;
  const { tenantId } = key;
  const body = bodyOf(run, wanted);
  const clock = startClock();
  if (!(await sendRequisition(store, { tenantId, requisitionId: wanted.id, runId }, before, limits.giveUpMs)))
    return { kind: 'taken' };
  const batchId = await note(run, wanted);
  const requisition = { tenant_id: tenantId, requisition_id: wanted.id };
  try {
    const { signal, beforeSend } = guardFor('create-job', limits.giveUpMs, clock, run.sinceLook);
    const job = await connection.partner.jobs.create({ body }, { signal, beforeSend });
    await linkRequisition(store, requisition, String(job.id));
    await settleWrites(store, batchId, 'done');
    return { kind: 'created' };
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'unknown') return { kind: 'unknown' };
    await settleRequisition(store, requisition, { state: 'absent' });
    await settleWrites(store, batchId, error.action === 'reject' ? 'refused' : 'absent');
    if (error.action !== 'reject') throw error;
    return { kind: 'refused', reason: error.message };
  }
}

function bodyOf({ settings }: RequisitionRun, { id, fields, values }: WantedJob): JobInput {
  const customFields = Object.fromEntries(values.map(({ customFieldId, value }) => [customFieldId, value]));
  return { status: 'DRAFT', ...fields, customFields: { ...customFields, [settings.reference]: id } } as JobInput;
}

function note(run: RequisitionRun, { id, fields, values }: WantedJob): Promise<string> {
  const sent = Object.fromEntries(values.map(({ customFieldId, value }) => [customFieldId, value]));
  const changes = newValues({ status: 'DRAFT', ...fields, ...sent });
  const { tenantId } = run.key;
  const origin = { tenantId, runId: run.runId, by: BY_ITSELF, mappingHash: run.mapping.hash };
  return recordWrites(run.deps.store, origin, [
    { target: 'job', recordId: id, kind: 'create', changes, sensitive: [] },
  ]);
}
