import { ConnectorError } from '../../src/errors.ts';
import type { Requisition } from '../../src/hris/port.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { changedValues, findJob, type ListedJob, notWritable } from '../../src/plan/plan-requisition.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import { BY_ITSELF, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { touchRun } from '../../src/store/push-runs.ts';
import { readRequisitions } from '../../src/store/requisitions.ts';
import { withTables } from '../../src/streams/with-tables.ts';
import { loadRequisitionMapping } from '../../src/tenants/open-hris.ts';
import { readDefinitions } from '../fields/read-definitions.ts';
import { outcomeUnknown, startClock } from '../hire/write-once.ts';
import { keepMapping } from '../keep-mapping.ts';
import type { PushContext, Verdict } from '../push/push-context.ts';
import { type Pushed, pushRequisition } from './push-requisition.ts';
import { readJobs } from './read-jobs.ts';
import type { RequisitionRun } from './requisition-run.ts';
import { jobField, type WantedJob } from './wanted-job.ts';

/** Every open requisition and its job. What was made before a kill is found again, by the store or in the list. */
export async function pushRequisitions(context: PushContext, beat: () => void): Promise<Verdict[]> {
  const { requisitions } = context.connection.hris;
  if (requisitions === undefined)
    throw unconfigured(context, 'the HR system tells no requisitions (hris.requisitions)');
  const open = await requisitions.listOpen(AbortSignal.timeout(60_000));
  const run = await openRun(context);
  const pushed: [Requisition, Pushed][] = [];
  for (const requisition of open) {
    if (!(await touchRun(run.deps.store, run.key, run.runId))) break;
    pushed.push([requisition, await pushRequisition(run, requisition)]);
    beat();
  }
  const waits = pushed.flatMap(([, one]) => (one.kind === 'waiting' ? one.waitMs : []));
  if (waits.length > 0) throw outcomeUnknown('A job was asked for', Math.max(...waits));
  const changes = pushed.flatMap(([, one]) => changesOf(one));
  await writeValues(run, changes);
  const written = changes.length > 0 || pushed.some(([, { kind }]) => kind === 'created');
  const after = written ? await readJobs(run.connection, run.defined) : run.jobs;
  return pushed.map(([{ id }, one]) => ({ id, ...verdictOf(run, one, after) }));
}

async function openRun({ deps, connection, key, runId }: PushContext): Promise<RequisitionRun> {
  const { tenant } = connection;
  const settings = tenant.requisitions;
  const own = await loadRequisitionMapping(tenant);
  if (settings === undefined) throw unconfigured({ key }, 'the tenant file has no section requisitions');
  if (own === undefined) throw unconfigured({ key }, 'nothing maps them: name streams.requisitions.mapping');
  await keepMapping(deps.store, tenant, { subject: 'requisitions', mapping: own });
  const mapping = await withTables(deps.store, key.tenantId, own);
  const { fields: defined } = await readDefinitions(connection);
  jobField(defined, settings.reference);
  const { rows, now } = await readRequisitions(deps.store, key.tenantId);
  const sinceLook = startClock();
  const jobs = await readJobs(connection, defined);
  return { deps, connection, key, runId, mapping, settings, defined, jobs, rows, now, sinceLook };
}

function unconfigured({ key }: Pick<PushContext, 'key'>, why: string): ConnectorError {
  return new ConnectorError({
    code: 'REQUISITIONS_UNCONFIGURED',
    action: 'reject',
    message: `Requisitions of ${key.tenantId} cannot become jobs: ${why}. Correct the tenant file and apply it.`,
  });
}

interface Change {
  wanted: WantedJob;
  job: ListedJob;
  values: TargetValue[];
}

function changesOf(pushed: Pushed): Change[] {
  if (pushed.kind !== 'known') return [];
  const { wanted, job } = pushed;
  const values = changedValues(wanted.values, job);
  return values.length === 0 ? [] : [{ wanted, job, values }];
}

async function writeValues({ deps, connection, key, runId, mapping }: RequisitionRun, changes: readonly Change[]) {
  if (changes.length === 0) return;
  const origin = { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash: mapping.hash };
  const writes = changes.map(({ wanted, job, values }) => ({
    target: 'job',
    recordId: wanted.id,
    foreignId: job.id,
    kind: 'update' as const,
    changes: Object.fromEntries(
      values.map(({ customFieldId, value }) => [customFieldId, { old: job.values.get(customFieldId), new: value }]),
    ),
    sensitive: [],
  }));
  const batchId = await recordWrites(deps.store, origin, writes);
  const body = changes.flatMap(({ job, values }) =>
    values.map((value) => ({ ...value, entityType: 'job' as const, entityId: job.id })),
  );
  const outcomes = await connection.partner.inChunks(contract.customFieldValues.upsertBulk, { body });
  const failed = outcomes.find((outcome) => !outcome.ok);
  await settleWrites(deps.store, batchId, failed === undefined ? 'done' : 'refused');
  if (failed !== undefined && !failed.ok) throw failed.error;
}

/** By the list as it was read after the writes: an answer alone has been wrong before. */
function verdictOf(run: RequisitionRun, pushed: Pushed, after: readonly ListedJob[]): Omit<Verdict, 'id'> {
  if (pushed.kind === 'settled') return { kind: 'unchanged' };
  if (pushed.kind === 'waiting') throw new Error('a run with open questions has no verdicts');
  if (pushed.kind !== 'created' && pushed.kind !== 'known') return pushed;
  const { wanted } = pushed;
  const seen = findJob(after, run.settings.reference, wanted.id);
  const shown = seen.kind === 'one' ? seen.job : undefined;
  if (shown === undefined) return { kind: 'skipped', reason: 'the list of jobs does not show its id yet' };
  if (changedValues(wanted.values, shown).length > 0)
    return { kind: 'skipped', reason: `job ${shown.id} does not show the values written to it yet` };
  const stuck = notWritable(wanted.fields, shown);
  if (stuck.length > 0) return { kind: 'skipped', reason: `not writable in job ${shown.id}: ${stuck.join(', ')}` };
  if (pushed.kind === 'created' || pushed.isNew) return { kind: 'created' };
  return { kind: changesOf(pushed).length > 0 ? 'updated' : 'unchanged' };
}
