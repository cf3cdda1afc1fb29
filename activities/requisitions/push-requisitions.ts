import { type ConnectorError, isConnectorError, rejected } from '../../src/errors.ts';
import type { EmployeeFields, FieldValue } from '../../src/hire/hire.ts';
import { holdOf } from '../../src/hire/holds.ts';
import type { Requisition } from '../../src/hris/port.ts';
import { decodeValue, encodeValue } from '../../src/mapping/custom-fields.ts';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { Job, JobInput } from '../../src/partner/contract/jobs.ts';
import { instantOf } from '../../src/partner/contract/shapes.ts';
import { mappedTargets, missingTargets, type TargetValue } from '../../src/plan/plan-write-back.ts';
import type { FieldDefinition } from '../../src/store/fields.ts';
import { readOpenWrites, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import { closeHold, openHold, readHold } from '../../src/store/holds.ts';
import { linkRequisition, readRequisitions, sendRequisition, settleRequisition } from '../../src/store/jobs.ts';
import { batchesOf } from '../../src/store/open-store.ts';
import type { RequisitionRow } from '../../src/store/push-tables.ts';
import { forgetAllowed } from '../../src/store/streams.ts';
import { withTables } from '../../src/streams/stream.ts';
import { loadRequisitionMapping } from '../../src/tenants/open-hris.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { type Connection, keepMapping } from '../connections.ts';
import { namedField, readDefinitions } from '../fields/custom-fields.ts';
import { newValues } from '../hire/with-hire.ts';
import { type Elapsed, guardFor, startClock } from '../hire/write-once.ts';
import {
  assertAnswered,
  assertFew,
  assertOurs,
  createFailures,
  leftMs,
  MOST_VALUES,
  notedValues,
  originOf,
  type PushContext,
  type Verdict,
  waitFor,
} from '../push/push-context.ts';

/**
 * Handles every open requisition and its job. A job made before a crash is found again through the store or the list,
 * also if its position has closed since.
 */
export async function pushRequisitions(context: PushContext): Promise<void> {
  const { requisitions } = context.connection.hris;
  if (requisitions === undefined)
    throw unconfigured(context, 'the HR system provides no requisitions (hris.requisitions)');
  const open = await requisitions.listOpen(AbortSignal.timeout(60_000));
  const run = await openRun(context);
  await assertFewNew(run, open);
  const pushed: [Pick<Requisition, 'id'>, Pushed][] = [];
  const handle = async (requisition: Pick<Requisition, 'id'>, work: () => Promise<Pushed>): Promise<void> => {
    await assertOurs(run);
    const one = await work();
    if (one.kind === 'waiting') waitFor(run, one.waitMs);
    pushed.push([requisition, one]);
    run.beat();
  };
  const ids = new Set(open.map(({ id }) => id));
  const isLeft = (row: RequisitionRow) =>
    (row.state === 'sent' || row.state === 'held') && !ids.has(row.requisition_id);
  // First, because a question about one of them keeps others from being asked.
  for (const row of [...run.rows.values()].filter(isLeft))
    await handle({ id: row.requisition_id }, () => settleClosed(run, row));
  for (const requisition of open) await handle(requisition, () => pushRequisition(run, requisition));
  const changes = pushed.flatMap(([, one]) => changesOf(one));
  const refused = await writeValues(run, changes);
  assertAnswered(run, 'A job was asked for');
  const written = changes.length > 0 || pushed.some(([, { kind }]) => kind === 'created');
  const after = written ? (await readJobs(run.connection, run.defined)).jobs : run.jobs;
  for (const [{ id }, one] of pushed) {
    const code = refused.get(id);
    const reason = `the hiring platform refused the values of its job: ${code}`;
    const verdict = code === undefined ? verdictOf(run, one, after) : { kind: 'quarantined' as const, reason };
    run.verdicts.set(id, { id, ...verdict });
  }
  await forgetAllowed(context.deps.store, context.key);
}

/** The first pass may meet the open positions of years. Those that were asked for before are not counted again. */
async function assertFewNew(run: RequisitionRun, open: readonly Requisition[]): Promise<void> {
  const { rows, jobs, mapping, settings, defined } = run;
  const { reference, atOnce: most } = settings;
  const isNew = ({ id }: Requisition) => !rows.has(id) && findJob(jobs, reference, id).kind === 'none';
  const fresh = open.filter((one) => isNew(one) && !('reason' in wantedJob(one, mapping, settings, defined))).length;
  const message =
    `${fresh} open positions would become jobs in one run, more than ${most} (requisitions.atOnce in the tenant ` +
    'file). None of them did.';
  await assertFew(run, { fresh, most, code: 'MASS_REQUISITIONS', message });
}

async function openRun(context: PushContext): Promise<RequisitionRun> {
  const { deps, connection, key } = context;
  const { tenant } = connection;
  const settings = tenant.requisitions;
  const own = await loadRequisitionMapping(tenant);
  if (settings === undefined) throw unconfigured(context, 'the tenant file has no section requisitions');
  if (own === undefined)
    throw unconfigured(context, 'no mapping is set for them: name one in streams.requisitions.mapping');
  await keepMapping(deps.store, tenant, { subject: 'requisitions', mapping: own });
  const mapping = await withTables(deps.store, key.tenantId, own);
  const { fields: defined } = await readDefinitions(connection);
  namedField(defined, { entity: 'job', id: settings.reference, section: 'requisitions' });
  const { rows, now } = await readRequisitions(deps.store, key.tenantId);
  const sinceLook = startClock();
  const { jobs } = await readJobs(connection, defined);
  return { ...context, mapping, settings, defined, jobs, rows, now, sinceLook };
}

function unconfigured({ key }: PushContext, why: string): ConnectorError {
  return rejected(
    'REQUISITIONS_UNCONFIGURED',
    `Requisitions of ${key.tenantId} cannot become jobs: ${why}. Correct the tenant file and apply it.`,
  );
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

/** Returns the requisitions whose values the partner refuses, with the code. */
async function writeValues(run: RequisitionRun, changes: readonly Change[]): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  const failures = createFailures();
  const jobs = Math.max(1, Math.floor(MOST_VALUES / Math.max(1, run.settings.values.length)));
  for (const some of batchesOf(changes, jobs))
    await failures.sendApart(
      some,
      (own) => sendValues(run, own),
      ({ wanted }, { code }) => refused.set(wanted.id, code),
    );
  failures.end();
  return refused;
}

async function sendValues(run: RequisitionRun, changes: readonly Change[]): Promise<void> {
  await assertOurs(run);
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
  const body = changes.flatMap(({ job, values }) =>
    values.map((value) => ({ ...value, entityType: 'job' as const, entityId: job.id })),
  );
  await notedValues(run, writes, body);
}

/** Judges by the list read after the writes, because a successful answer has been wrong before. */
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
  // Nothing in the API can edit these fields. Once a job is made, its status belongs to the recruiter.
  const stuck = Object.entries(wanted.fields)
    .filter(([name]) => name !== 'status' && shown.fields[name] !== undefined)
    .flatMap(([name, value]) => (isSame(shown.fields[name], value) ? [] : [name]));
  if (stuck.length > 0) return { kind: 'skipped', reason: `not writable in job ${shown.id}: ${stuck.join(', ')}` };
  if (pushed.kind === 'created' || pushed.isNew) return { kind: 'created' };
  return { kind: changesOf(pushed).length > 0 ? 'updated' : 'unchanged' };
}

/**
 * Reads every job of the partner, because it has no filter by custom field. An unreadable job counts as a job without
 * values.
 */
async function readJobs(
  { partner }: Pick<Connection, 'partner'>,
  defined: readonly FieldDefinition[],
): Promise<{ jobs: ListedJob[]; unshown: number }> {
  const types = new Map(defined.filter(({ entity }) => entity === 'job').map(({ id, type }) => [id, type]));
  const { items, unreadable, unshown = 0 } = await partner.readAll(contract.jobs.list, {});
  const silent = unreadable.map(({ id, index }) => ({
    id: id ?? `number ${index + 1}`,
    fields: {},
    values: new Map(),
  }));
  return { jobs: [...items.map((job) => listed(job, types)), ...silent], unshown };
}

function listed(job: Job, types: ReadonlyMap<string, string>): ListedJob {
  const shown = Object.entries(job.customFields ?? {});
  const createdAt = Date.parse(instantOf(job.createdAt) ?? '');
  return {
    id: String(job.id),
    fields: job,
    values: new Map(shown.map(([id, { value }]) => [id, decodeValue(types.get(id) ?? '', value)])),
    ...(Number.isNaN(createdAt) ? {} : { createdAt }),
  };
}

/** The pass's result for one requisition. */
type Pushed =
  | { kind: 'known'; wanted: WantedJob; job: ListedJob; isNew: boolean }
  | { kind: 'created'; wanted: WantedJob }
  | { kind: 'settled' }
  | { kind: 'waiting'; waitMs: number }
  | { kind: 'skipped' | 'quarantined' | 'held'; reason: string };

/** Finds or makes the one job of an open requisition, or says why there is none. */
async function pushRequisition(run: RequisitionRun, requisition: Requisition): Promise<Pushed> {
  const { id } = requisition;
  const row = run.rows.get(id);
  const seen = findJob(run.jobs, run.settings.reference, id);
  if (seen.kind === 'many') return { kind: 'quarantined', reason: carriedBy(seen.jobIds) };
  const wanted = wantedJob(requisition, run.mapping, run.settings, run.defined);
  const job = seen.kind === 'one' ? seen.job : run.jobs.find((one) => one.id === row?.job_id);
  if (job !== undefined) return known(run, id, { wanted, job, row });
  if (row?.state === 'created') return { kind: 'skipped', reason: `its job ${row.job_id ?? ''} is no longer listed` };
  if (row?.state === 'dismissed') return { kind: 'settled' };
  if ('reason' in wanted) return { kind: 'quarantined', reason: wanted.reason };
  if (row?.state === 'sent') return settleSent(run, wanted, row);
  return row?.state === 'held' ? takeAnswer(run, wanted, row) : create(run, wanted, row);
}

function carriedBy(jobIds: readonly string[]): string {
  return `jobs ${jobIds.join(' and ')} carry its id: take it out of all but one`;
}

async function known(
  run: RequisitionRun,
  requisitionId: string,
  { wanted, job, row }: { wanted: WantedJob | { reason: string }; job: ListedJob; row: RequisitionRow | undefined },
): Promise<Pushed> {
  if (row?.state !== 'created' || row.job_id !== job.id)
    await linkRequisition(run.deps.store, { tenant_id: run.key.tenantId, requisition_id: requisitionId }, job.id);
  if (row?.state === 'sent' || row?.state === 'held') await concludeRequest(run, row, 'done');
  if ('reason' in wanted) return { kind: 'quarantined', reason: wanted.reason };
  return { kind: 'known', wanted, job, isNew: row?.run_id === run.runId };
}

/** Settles a request without an answer: its job is found, or missing after the deadline, or a person must tell. */
async function settleSent(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow): Promise<Pushed> {
  const looked = await lookAgain(run, row, wanted.fields['title']);
  if ('waitMs' in looked) return { kind: 'waiting', ...looked };
  if ('job' in looked) return known(run, wanted.id, { wanted, job: looked.job, row });
  return looked.isUnclear ? ask(run, row, looked.jobIds) : createAgain(run, wanted, row);
}

type Looked = { waitMs: number } | { job: ListedJob } | { isUnclear: boolean; jobIds: string[] };

/** Looks for the job of a request without an answer, once its deadline has passed. */
async function lookAgain(run: RequisitionRun, row: RequisitionRow, title?: FieldValue): Promise<Looked> {
  const waitMs = leftMs(run, row, run.now);
  if (waitMs > 0) return { waitMs };
  // A list that loses a job and gains one while it is read may miss another: two readings must. In one that shows fewer
  // jobs than it counts, the one sought may be missing for good.
  const { jobs, unshown } = await readJobs(run.connection, run.defined);
  const seen = findJob(jobs, run.settings.reference, row.requisition_id);
  if (seen.kind === 'one') return { job: seen.job };
  const jobIds = mayBeOurs(run, [...run.jobs, ...jobs], row, title);
  return { isUnclear: jobIds.length > 0 || unshown > 0, jobIds };
}

/** Settles a request whose position has closed: its job is linked if it is found, and none is made. */
async function settleClosed(run: RequisitionRun, row: RequisitionRow): Promise<Pushed> {
  const { store } = run.deps;
  const { requisition_id: id, hold_id: holdId } = row;
  const closed = { reason: 'its position has closed' };
  const link = async (job: ListedJob): Promise<Pushed> => {
    await known(run, id, { wanted: closed, job, row });
    return { kind: 'settled' };
  };
  const { answer, jobId } = await answerOf(run, row);
  if (holdId !== null) await closeHold(store, holdId);
  const seen = findJob(run.jobs, run.settings.reference, id);
  if (seen.kind === 'many') return { kind: 'quarantined', reason: carriedBy(seen.jobIds) };
  if (seen.kind === 'one') return link(seen.job);
  if (answer === 'dismiss') return dismiss(run, row);
  const linked = answer === 'link-job' ? await linkNamed(run, closed, row, jobId) : undefined;
  if (linked !== undefined) return linked.kind === 'held' ? linked : { kind: 'settled' };
  const looked: Looked = answer === 'create-job' ? { isUnclear: false, jobIds: [] } : await lookAgain(run, row);
  if ('waitMs' in looked) return { kind: 'waiting', ...looked };
  if ('job' in looked) return link(looked.job);
  if (!looked.isUnclear) return settleAbsent(run, row);
  if (row.state === 'held') await settleRequisition(store, row, { state: 'held', hold_id: null });
  const which = looked.jobIds.length === 0 ? '' : `, and may have made job ${looked.jobIds.join(' or ')}`;
  const reason = `${closed.reason}, and the request for its job got no answer${which}: look in the hiring platform`;
  return { kind: 'quarantined', reason };
}

async function createAgain(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow): Promise<Pushed> {
  await settleAbsent(run, row);
  return create(run, wanted, { ...row, state: 'absent' });
}

async function settleAbsent(run: RequisitionRun, row: RequisitionRow): Promise<Pushed> {
  await settleRequisition(run.deps.store, row, { state: 'absent' });
  await concludeRequest(run, row, 'absent');
  return { kind: 'settled' };
}

/** Settles the note of a request that got no answer. */
async function concludeRequest({ deps, key }: RequisitionRun, row: RequisitionRow, outcome: 'done' | 'absent') {
  for (const { kind, record_id: id, batch_id: batchId } of await readOpenWrites(deps.store, key.tenantId, 'job'))
    if (kind === 'create' && id === row.requisition_id) await settleWrites(deps.store, batchId, outcome);
}

/** A tenant has one open question at a time; the others wait their turn. */
async function ask({ deps, key }: RequisitionRun, row: RequisitionRow, jobIds: string[]): Promise<Pushed> {
  const { store } = deps;
  const requisitionId = row.requisition_id;
  const hold = holdOf('REQUISITION_UNKNOWN', { requisitionId, jobIds });
  const { holdId } = await openHold(store, { tenantId: key.tenantId, ...hold });
  const details = (await readHold(store, holdId))?.details ?? '{}';
  const isOurs = (JSON.parse(details) as { requisitionId?: unknown }).requisitionId === requisitionId;
  await settleRequisition(store, row, { state: 'held', hold_id: isOurs ? holdId : null });
  return { kind: 'held', reason: 'a person must decide whether its job was created' };
}

/** What a person answered about the request, if anything. */
async function answerOf({ deps }: RequisitionRun, { hold_id: holdId }: RequisitionRow) {
  const hold = holdId === null ? undefined : await readHold(deps.store, holdId);
  const [jobId = ''] = JSON.parse(hold?.answer_arguments ?? '[]') as string[];
  return { answer: hold?.answer, jobId };
}

async function takeAnswer(run: RequisitionRun, wanted: WantedJob, row: RequisitionRow): Promise<Pushed> {
  const { answer, jobId } = await answerOf(run, row);
  if (answer === 'link-job') return linkNamed(run, wanted, row, jobId);
  if (answer === 'create-job') return createAgain(run, wanted, row);
  if (answer === 'retry') return settleSent(run, wanted, row);
  if (answer === 'dismiss') return dismiss(run, row);
  return ask(run, row, mayBeOurs(run, run.jobs, row, wanted.fields['title']));
}

async function dismiss(run: RequisitionRun, row: RequisitionRow): Promise<Pushed> {
  await settleRequisition(run.deps.store, row, { state: 'dismissed' });
  return { kind: 'settled' };
}

async function linkNamed(
  run: RequisitionRun,
  wanted: WantedJob | { reason: string },
  row: RequisitionRow,
  jobId: string,
): Promise<Pushed> {
  const { requisition_id: id } = row;
  const job = run.jobs.find((one) => one.id === jobId);
  const shown = job?.values.get(run.settings.reference) ?? '';
  const isTaken = job !== undefined && (isLinked(run, jobId, id) || (shown !== '' && shown !== id));
  if (job !== undefined && !isTaken) return known(run, id, { wanted, job, row });
  await settleRequisition(run.deps.store, row, { state: 'held', hold_id: null });
  const named = `job ${jobId}, which a person named`;
  const reason = isTaken ? `${named}, belongs to another requisition` : `the hiring platform lists no ${named}`;
  return { kind: 'held', reason };
}

/** Whether another requisition than this one has the job. */
function isLinked({ rows }: RequisitionRun, jobId: string, requisitionId: string): boolean {
  return [...rows.values()].some((one) => one.job_id === jobId && one.requisition_id !== requisitionId);
}

/**
 * Asks for a job at most once: stores the intent, calls, stores the outcome. The caller must have looked for the job
 * first.
 */
async function create(run: RequisitionRun, wanted: WantedJob, before: RequisitionRow | undefined): Promise<Pushed> {
  const { deps, key, runId, connection, settings } = run;
  const { store, limits } = deps;
  const { tenantId } = key;
  const { id, fields, values } = wanted;
  const sent = Object.fromEntries(values.map(({ customFieldId, value }) => [customFieldId, value]));
  const customFields = { ...sent, [settings.reference]: id };
  // Section 2.2 wants a state, empty in countries without states.
  const body = { status: 'DRAFT', state: '', ...fields, customFields } as JobInput;
  const clock = startClock();
  const waiting = { kind: 'waiting', waitMs: limits.giveUpMs + limits.partnerLagMs } as const;
  const row = await sendRequisition(store, { tenantId, requisitionId: id, runId }, before, limits.giveUpMs);
  // Another run handles it.
  if (row === undefined) return waiting;
  const changes = newValues({ status: 'DRAFT', ...fields, ...sent });
  const write = { target: 'job', recordId: id, kind: 'create' as const, changes, sensitive: [] };
  const batchId = await recordWrites(store, originOf(run, run.mapping.hash), [write]);
  let job: Job;
  try {
    const { signal, beforeSend } = guardFor('create-job', limits.giveUpMs, clock, run.sinceLook);
    job = await connection.partner.jobs.create({ body }, { signal, beforeSend });
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'unknown') return waiting;
    await settleRequisition(store, row, { state: 'absent' });
    await settleWrites(store, batchId, error.action === 'reject' ? 'refused' : 'absent');
    if (error.action !== 'reject') throw error;
    return { kind: 'quarantined', reason: error.message };
  }
  await linkRequisition(store, { tenant_id: tenantId, requisition_id: id }, String(job.id));
  await settleWrites(store, batchId, 'done');
  return { kind: 'created', wanted };
}

/** One pass over the open requisitions, with what both sides held when it began. */
interface RequisitionRun extends PushContext {
  mapping: Mapping;
  settings: RequisitionSettings;
  defined: readonly FieldDefinition[];
  jobs: readonly ListedJob[];
  rows: ReadonlyMap<string, RequisitionRow>;
  /** The database's clock before the jobs were read. */
  now: number;
  /** Time since the jobs were read. */
  sinceLook: Elapsed;
}

type RequisitionSettings = NonNullable<Tenant['requisitions']>;

/** A requisition as a job: fields that only its creation can set, and values that can be changed later. */
interface WantedJob {
  id: string;
  fields: EmployeeFields;
  values: TargetValue[];
}

/** The job that the partner should hold for a requisition, or why it cannot: field names, never values. */
function wantedJob(
  requisition: Requisition,
  mapping: Mapping,
  { values }: RequisitionSettings,
  defined: readonly FieldDefinition[],
): WantedJob | { reason: string } {
  const { id } = requisition;
  const { fields, problems } = evaluateMapping(mapping, { requisition: { id, ...requisition.fields } });
  if (problems.length > 0) return { reason: problems.map(({ text }) => text).join(' ') };
  const encoded: TargetValue[] = [];
  for (const { customFieldId, value } of mappedTargets(values, requisition.fields)) {
    const field = namedField(defined, { entity: 'job', id: customFieldId, section: 'requisitions' });
    const sent = encodeValue(field, value);
    if ('wrong' in sent) return { reason: `job custom field "${field.label}" (${customFieldId}) ${sent.wrong}` };
    encoded.push({ customFieldId, value: sent.sent });
  }
  return { id, fields, values: encoded };
}

/** A job as the partner lists it, with what shows which requisition it belongs to. */
interface ListedJob {
  id: string;
  fields: Readonly<Record<string, unknown>>;
  /** Its custom fields by id; fields that the list does not show are absent. */
  values: ReadonlyMap<string, unknown>;
  /** Milliseconds since 1970 on the partner's clock. */
  createdAt?: number;
}

type JobSeen = { kind: 'one'; job: ListedJob } | { kind: 'many'; jobIds: string[] } | { kind: 'none' };

/** Finds a requisition's job by the custom field that carries the requisition's id. */
function findJob(jobs: readonly ListedJob[], reference: string, requisitionId: string): JobSeen {
  const mine = jobs.filter(({ values }) => values.get(reference) === requisitionId);
  const [job, ...others] = mine;
  if (job === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'one', job } : { kind: 'many', jobIds: mine.map(({ id }) => id) };
}

/** Largest difference between the partner's clock and ours. */
const SKEW_MS = 3_600_000;

/**
 * Jobs that a request without an answer may have made: created since then, and not showing which requisition they are
 * for. One that shows an empty id also counts if it has this title and no other requisition has it.
 */
function mayBeOurs(run: RequisitionRun, jobs: readonly ListedJob[], row: RequisitionRow, title?: FieldValue): string[] {
  const { reference } = run.settings;
  const isEmpty = ({ id, fields, values }: ListedJob): boolean =>
    (values.get(reference) ?? '') === '' && fields['title'] === title && !isLinked(run, id, row.requisition_id);
  const isSilent = (job: ListedJob): boolean => !job.values.has(reference) || isEmpty(job);
  const since = (row.sent_at ?? 0) - SKEW_MS;
  const possible = jobs.filter((job) => (job.createdAt ?? Number.POSITIVE_INFINITY) >= since && isSilent(job));
  return [...new Set(possible.map(({ id }) => id))];
}

/** Custom fields of the job whose value differs from the requisition's. */
function changedValues(wanted: readonly TargetValue[], { values }: ListedJob): TargetValue[] {
  return wanted.filter((one) => missingTargets([one], values).length > 0);
}

function isSame(shown: unknown, wanted: FieldValue): boolean {
  return JSON.stringify(shown ?? null) === JSON.stringify(wanted);
}
