import { applyPlan } from '../../activities/hire/apply-plan.ts';
import { employeeIdOf, upsertValues, writeEmployeeId } from '../../activities/hire/finish-hire.ts';
import { planEmployee } from '../../activities/hire/plan-employee.ts';
import { updateEmployee } from '../../activities/hire/update-employee.ts';
import { type HireContext, reread } from '../../activities/hire/with-hire.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { inActivity } from '../failpoint.ts';
import type { EmployeeFields, FieldValue } from '../hire/hire.ts';
import type { StoredRow } from '../hris/port.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { audit } from '../store/audit.ts';
import { type FieldChange, listWrites } from '../store/foreign-writes.ts';
import { assertMayWrite } from '../store/freezes.ts';
import { employeeOf } from '../store/hires.ts';
import { findMappingVersions } from '../store/mapping-versions.ts';
import { markRecords, readPlanRecords, type SavedPlan, savePlan } from '../store/plans.ts';
import type { ForeignWriteRow } from '../store/schema.ts';
import {
  type Destination,
  fieldChanges,
  isAsPlanned,
  isDone,
  landRows,
  mapPage,
  type PlanEnds,
  type RowPlan,
  readStored,
  rowHash,
  settleOpenWrites,
} from '../streams/land-page.ts';
import { withKnownTables } from '../streams/stream.ts';
import { landedNames, type PullName } from '../streams/streams.ts';
import { refusedRecords } from '../streams/without-erased.ts';
import { loadMappingVersion } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { currentPages, fittedEnds, type OpenTenant, patiently, streamEnds } from './open-tenant.ts';
import { hireWrites, readHire } from './plan-hire.ts';
import { changesOf, type HireWrites, type PlannedRecord, type PlanView } from './writes.ts';

/** The result of applying a plan. */
export interface Applied {
  written: number;
  /** Records written by an earlier apply of the same plan, or by a sync in the meantime. */
  already: number;
  /** Records that differ from what the plan was made from: they were not written. */
  changed: { record: string; reason: string }[];
  refused: { record: string; reason: string }[];
}

function mappingGone({ mappingHash, subject }: SavedPlan): ConnectorError {
  return rejected(
    'PLAN_OUTDATED',
    `The plan for ${subject} was made with mapping ${(mappingHash ?? '').slice(0, 12)}, which this release ` +
      'reads differently. Nothing was written. Make a new plan.',
  );
}

/** Writes exactly what a saved plan contains, and reports records that changed since the plan was made. */
export async function applySavedPlan(open: OpenTenant, plan: SavedPlan, by: string): Promise<Applied> {
  await assertMayWrite(open.store, plan.tenantId);
  const apply = landedNames.some((name) => name === plan.subject) ? applyStream : applyHire;
  const applied = await inActivity('applySavedPlan', () => apply(open, plan, by));
  await audit(open.store, {
    by,
    tenantId: plan.tenantId,
    act: 'plan-applied',
    details: `${plan.hash.slice(0, 12)}, ${plan.subject}: ${applied.written} written`,
  });
  return applied;
}

type Written = { state: 'applied' } | { state: 'changed' | 'refused'; reason: string };

/**
 * Writes a plan for a hire, part by part. Plans the hire again before each part: a part that would now differ is
 * reported and skipped, and a part that is there already was written by an earlier apply.
 */
async function applyHire(given: OpenTenant, plan: SavedPlan, by: string): Promise<Applied> {
  const open = { ...given, deps: { ...given.deps, actor: { runId: plan.hash, by } } };
  const [, jobCandidateId = ''] = /^hire (.+)\/\d+$/.exec(plan.subject) ?? [];
  const applied: Applied = { written: 0, already: 0, changed: [], refused: [] };
  for (const { id, change } of await readPlanRecords<PlannedRecord>(open.store, plan.hash, 'planned')) {
    const { due, written } = await patiently(() => writeTarget(open, jobCandidateId, change));
    const record = `${jobCandidateId} ${change.target}`;
    await markRecords(open.store, plan.hash, [id], written.state);
    if (written.state !== 'applied') applied[written.state].push({ record, reason: written.reason });
    else if (due === undefined) applied.already += 1;
    else applied.written += 1;
  }
  return applied;
}

async function writeTarget(open: OpenTenant, jobCandidateId: string, change: PlannedRecord) {
  const hire = await readHire(open, jobCandidateId);
  const now = await hireWrites(hire);
  const due = now.writes.find((write) => write.target === change.target);
  return { due, written: due === undefined ? judgeAbsent(now) : await writePart(hire, change, due) };
}

/** Nothing is left to write: the part is there already, unless a note says otherwise. */
function judgeAbsent({ notes }: HireWrites): Written {
  const [note] = notes;
  return note === undefined ? { state: 'applied' } : { state: 'changed', reason: `${note.what}: ${note.reason}` };
}

async function writePart(hire: HireContext, planned: PlannedRecord, due: PlannedRecord): Promise<Written> {
  if (JSON.stringify(planned.changes) !== JSON.stringify(due.changes) || planned.kind !== due.kind)
    return { state: 'changed', reason: 'one of its sides changed since the plan was made' };
  return WRITERS[planned.target]?.(hire, planned) ?? notDue(hire, planned.target);
}

type Writer = (hire: HireContext, planned: PlannedRecord) => Promise<Written>;

const WRITERS: Readonly<Partial<Record<string, Writer>>> = {
  employee: (hire, planned) => (hire.row.employee_id === null ? employ(hire, planned) : correct(hire, planned)),
  'external-status': async (hire) => {
    const target = await writeEmployeeId(hire, employeeIdOf(hire));
    if (target.verdict === 'written') return { state: 'applied' };
    return { state: 'refused', reason: 'the enrolment does not take the Employee ID' };
  },
  'custom-fields': async (hire, { changes }) => {
    const values = Object.entries(changes).map(([customFieldId, change]) => ({
      customFieldId,
      value: change.new as Exclude<FieldValue, null>,
    }));
    await upsertValues(hire, values);
    return { state: 'applied' };
  },
};

async function correct(hire: HireContext, planned: PlannedRecord): Promise<Written> {
  const employee = employeeOf(hire.row);
  if (employee === undefined) return notDue(hire, 'employee');
  await updateEmployee(hire, employee, newFields(planned));
  return { state: 'applied' };
}

/** Makes the employee through claim, intent and deadline, as the hire's workflow would, which later finds them. */
async function employ(hire: HireContext, planned: PlannedRecord): Promise<Written> {
  if (hire.row.step !== 'employ') return notDue(hire, 'employee');
  const made = await planEmployee(hire);
  if (made.verdict === 'hold') return { state: 'changed', reason: made.hold.message };
  if (made.verdict !== 'plan') return { state: 'changed', reason: 'the person is not in the stage any more' };
  const fields = made.change.kind === 'link' ? { employee: made.change.employee.id } : made.change.fields;
  if (made.change.kind !== planned.kind || JSON.stringify(fields) !== JSON.stringify(newFields(planned)))
    return { state: 'changed', reason: 'one of its sides changed since the plan was made' };
  const done = await applyPlan(await reread(hire), made);
  if (done.verdict === 'employee') return { state: 'applied' };
  if (done.verdict === 'hold') return { state: 'refused', reason: done.hold.message };
  return { state: 'changed', reason: `the result was "${done.verdict}"; its workflow continues from there` };
}

function newFields({ changes }: PlannedRecord): EmployeeFields {
  return Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, change.new as FieldValue]));
}

/** The workflow judges credits and readiness; a plan only shows what the workflow will write, and does not hurry it. */
function notDue({ row, ref }: HireContext, part: string): never {
  throw rejected(
    'PLAN_NOT_DUE',
    `The ${part} of job candidate ${ref.jobCandidateId} is not due: the hire is at step "${row.step}", and its ` +
      'workflow writes it later. None of it was written.',
  );
}

const PAGE = 100;

interface Applying {
  tenant: Tenant;
  ends: PlanEnds;
  destination: Destination;
  plan: SavedPlan;
  /** Rows still to write, by id. */
  left: Map<string, RowPlan>;
  applied: Applied;
}

/**
 * Writes a plan for a stream. A record that changed since the plan was made, at the partner or in its row, is reported
 * and skipped. Rows written by an earlier apply that was killed are recognised and not written again.
 */
async function applyStream(open: OpenTenant, plan: SavedPlan, by: string): Promise<Applied> {
  const { store, tenant, connection } = open;
  const stream = plan.subject as PullName;
  const pinned = { ...streamEnds(connection, stream), mapping: await pinnedMapping(open, plan, stream) };
  // A revert puts values back and maps no record.
  const ends = plan.source === 'writes' ? pinned : await fittedEnds(open, pinned);
  const { mapping } = ends;
  await settleOpenWrites(store, ends.landing, ends);
  const records = await readPlanRecords<RowPlan>(store, plan.hash, 'planned');
  const origin = { tenantId: tenant.tenant, runId: plan.hash, mappingHash: mapping.hash, by };
  const applying: Applying = {
    tenant,
    ends,
    destination: { ...ends, force: true, store, origin },
    plan,
    left: new Map(records.map(({ id, change }) => [id, change])),
    applied: { written: 0, already: 0, changed: [], refused: [] },
  };
  const ids = [...applying.left.keys()];
  if (plan.source !== 'writes') await applyPages(open, applying);
  else for (let from = 0; from < ids.length; from += PAGE) await applyRows(applying, ids.slice(from, from + PAGE));
  return applying.applied;
}

/** The mapping that made the plan, even if another one is in force by now. */
async function pinnedMapping({ store, tenant, connection }: OpenTenant, plan: SavedPlan, stream: PullName) {
  const { mapping } = streamEnds(connection, stream);
  if (plan.source === 'writes' || mapping.hash === plan.mappingHash) return mapping;
  const versions = await findMappingVersions(store, plan.tenantId, plan.mappingHash ?? '');
  const version = versions.find(({ subject }) => subject === stream);
  const pinned: Mapping | undefined = version === undefined ? undefined : await loadMappingVersion(tenant, version);
  if (pinned === undefined) throw mappingGone(plan);
  return withKnownTables(store, plan.tenantId, pinned);
}

/** Reads the partner's list again: its records must still map to what was planned. */
async function applyPages(open: OpenTenant, applying: Applying): Promise<void> {
  const { ends, left } = applying;
  for await (const page of currentPages(open, ends)) {
    if (left.size === 0) return;
    const { rows, leftOut } = mapPage(ends, page);
    const ids = [...rows.keys()].filter((id) => left.has(id));
    const same = ids.filter((id) => rows.get(id)?.hash === left.get(id)?.after.hash);
    const other = ids.filter((id) => rows.get(id)?.hash !== left.get(id)?.after.hash);
    const unread = leftOut.map(({ key }) => key).filter((id) => left.has(id));
    await leave(applying, [...other, ...unread], 'changed at the partner since the plan was made');
    await applyRows(applying, same, new Map(page.items.map((item) => [String(item['id']), item])));
  }
  await leave(applying, [...left.keys()], 'the partner no longer shows it');
}

/** `shown`: the partner's records, which tell whom a row is about; without them the planned fields do. */
async function applyRows(
  applying: Applying,
  ids: readonly string[],
  shown: ReadonlyMap<string, Record<string, unknown>> = new Map(),
): Promise<void> {
  if (ids.length === 0) return;
  const { tenant, ends, destination, plan, left, applied } = applying;
  const stored = await readStored(ends, ids);
  const judged = judge(left, ids, stored);
  await leave(applying, judged.changed, 'its row in the HR system changed since the plan was made');
  const due = judged.due.flatMap((id) => {
    const change = left.get(id);
    return change === undefined ? [] : [{ id, ...change.after }];
  });
  // Asked last: an erasure that begins now waits until these rows have landed, and removes them.
  const about = due.map(({ id, fields }) => ({ ...(shown.get(id) ?? fields), id }));
  const stopped = await refusedRecords(destination.store, tenant, ends.stream, about);
  await leave(applying, [...stopped], 'the person was erased, or their consent has ended');
  const rows = due.filter(({ id }) => !stopped.has(id));
  const landed = await landRows(destination, rows);
  const refused = new Set(landed.refused.map(({ key }) => key));
  const written = rows.map(({ id }) => id).filter((id) => !refused.has(id));
  await markRecords(destination.store, plan.hash, [...written, ...judged.done], 'applied');
  await markRecords(destination.store, plan.hash, [...refused], 'refused');
  applied.written += written.length;
  applied.already += judged.done.length;
  applied.refused.push(...landed.refused.map(({ key, reason }) => ({ record: key, reason })));
  for (const id of ids) left.delete(id);
}

function judge(left: ReadonlyMap<string, RowPlan>, ids: readonly string[], stored: ReadonlyMap<string, StoredRow>) {
  const due: string[] = [];
  const done: string[] = [];
  const changed: string[] = [];
  for (const id of ids) {
    const change = left.get(id);
    if (change === undefined) continue;
    if (isDone(change, stored.get(id))) done.push(id);
    else if (isAsPlanned(change.before, stored.get(id))) due.push(id);
    else changed.push(id);
  }
  return { due, done, changed };
}

async function leave({ plan, left, applied, destination }: Applying, ids: readonly string[], reason: string) {
  await markRecords(destination.store, plan.hash, ids, 'changed');
  for (const id of ids) {
    left.delete(id);
    applied.changed.push({ record: id, reason });
  }
}

const READ_AT_ONCE = 100;

/** A plan for each stream that the version wrote to: restores every value it replaced, unless it was changed since. */
export async function planRevert(open: OpenTenant, version: string, by: string): Promise<PlanView[]> {
  const { store, tenant } = open;
  const writes = await listWrites(store, { tenantId: tenant.tenant, mapping: version });
  const plans: PlanView[] = [];
  for (const stream of landedNames) {
    const own = writes.filter((row) => row.target === stream && row.outcome === 'done');
    if (own.length > 0) plans.push(await revertStream(open, { stream, version, by }, own));
  }
  const others = writes.filter((row) => row.period !== null && row.outcome !== 'absent');
  if (others.length > 0) plans.push(hires(tenant.tenant, version, others));
  return plans;
}

async function revertStream(
  { store, tenant, connection }: OpenTenant,
  { stream, version, by }: { stream: PullName; version: string; by: string },
  writes: readonly ForeignWriteRow[],
): Promise<PlanView> {
  const ends = streamEnds(connection, stream);
  const found = await restoreAll(ends, writes);
  const view = { tenant: tenant.tenant, subject: stream, mapping: version, read: found.length };
  const notes = found.flatMap(({ id, kept }) => kept.map((reason) => ({ record: id, what: 'left as it is', reason })));
  const again = 'this mapping is still in force: the next sync writes its values again. Apply a corrected one first.';
  if (ends.mapping.hash.startsWith(version)) notes.unshift({ record: stream, what: 'warning', reason: again });
  const records = found.flatMap(({ id, change }) => (change === undefined ? [] : [{ id, change }]));
  if (records.length === 0) return { ...view, records: [], notes };
  const plan = {
    tenantId: tenant.tenant,
    subject: stream,
    source: 'writes' as const,
    mappingHash: version,
    by,
    records,
  };
  const sensitive = ends.mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  return {
    ...view,
    hash: await savePlan(store, plan),
    records: records.map(({ id, change }) => ({
      record: id,
      target: 'row',
      kind: 'update',
      why: `mapping ${version} replaced these values, and nobody changed them since`,
      changes: fieldChanges(change.before?.fields, change.after.fields),
      sensitive,
    })),
    notes,
  };
}

interface Found {
  id: string;
  change: RowPlan | undefined;
  kept: string[];
}

async function restoreAll(ends: PlanEnds, writes: readonly ForeignWriteRow[]): Promise<Found[]> {
  const byRecord = Map.groupBy(writes, (row) => row.record_id);
  const ids = [...byRecord.keys()];
  const found: Found[] = [];
  for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
    const some = ids.slice(from, from + READ_AT_ONCE);
    const stored = await readStored(ends, some);
    for (const id of some) {
      // Oldest first: the list has the latest first.
      const replaced = replacedValues(
        (byRecord.get(id) ?? []).toReversed().map((row) => ({ ...row, changes: changesOf(row) })),
      );
      const row = stored.get(id);
      const restored = restore(replaced, row?.fields);
      found.push({ id, change: row && rowPlan(ends, row, restored), kept: restored.kept });
    }
  }
  return found;
}

function rowPlan(
  { mapping }: PlanEnds,
  { hash, fields }: { hash: string; fields: EmployeeFields },
  { values }: Restoration,
): RowPlan | undefined {
  if (Object.keys(values).length === 0) return undefined;
  const after = { ...fields, ...values };
  // In the mapping's order and without empty values, as a sync with the right mapping would land it.
  const ordered: [string, FieldValue][] = mapping.fields.flatMap(({ target }) => {
    const value = after[target] ?? null;
    return value === null ? [] : [[target, value]];
  });
  const rest = Object.entries(after).filter(([name]) => !mapping.fields.some(({ target }) => target === name));
  const landed = Object.fromEntries(ordered);
  return {
    before: { hash, fields },
    after: { hash: rowHash(landed), fields: { ...landed, ...Object.fromEntries(rest) } },
  };
}

/** Writes of hires are not reverted in bulk: each hire gets its own plan, by the current mapping. */
function hires(tenant: string, version: string, writes: readonly ForeignWriteRow[]): PlanView {
  const ids = [...new Set(writes.map((row) => row.record_id))];
  const notes = ids.map((id) => ({
    record: id,
    what: 'left as it is',
    reason: `it is a hire; correct the mapping, then: hirebridge plan ${tenant} hire ${id}`,
  }));
  return { tenant, subject: 'hires', mapping: version, read: ids.length, records: [], notes };
}

/** The effect of one mapping version on one record: by field, the value before its first write and after its last. */
interface Replaced {
  /** The version created the record, so there is nothing to restore. */
  made: boolean;
  /** Values of these writes were purged. */
  purged: boolean;
  fields: Record<string, { old: FieldValue; new: FieldValue }>;
}

interface Restoration {
  values: EmployeeFields;
  kept: string[];
}

/** Sums up the writes of one version to one record; expects them oldest first. */
export function replacedValues(
  writes: ReadonlyArray<{ kind: string; purged_at: number | null; changes: Readonly<Record<string, FieldChange>> }>,
): Replaced {
  const fields: Replaced['fields'] = {};
  for (const { changes } of writes)
    for (const [name, change] of Object.entries(changes)) {
      const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
      fields[name] = { old: before === undefined ? valueOf(change.old) : before.old, new: valueOf(change.new) };
    }
  return {
    made: writes.some(({ kind }) => kind === 'create'),
    purged: writes.some(({ purged_at: at }) => at !== null),
    fields,
  };
}

/** Restores values that are still as the version wrote them; a later change stays. */
export function restore({ made, purged, fields }: Replaced, current: EmployeeFields | undefined): Restoration {
  if (current === undefined) return keep('its row is gone');
  if (purged) return keep('its earlier values were purged');
  if (made) return keep('this version made the row, so there is no earlier value');
  const values: EmployeeFields = {};
  const changed: string[] = [];
  for (const [name, { old, new: written }] of Object.entries(fields)) {
    if (isEqual(current[name] ?? null, written)) values[name] = old;
    else if (!isEqual(current[name] ?? null, old)) changed.push(name);
  }
  return { values, kept: changed.length === 0 ? [] : [`changed since: ${changed.join(', ')}`] };
}

function keep(reason: string): Restoration {
  return { values: {}, kept: [reason] };
}

function isEqual(one: FieldValue, other: FieldValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function valueOf(value: unknown): FieldValue {
  return (value ?? null) as FieldValue;
}
