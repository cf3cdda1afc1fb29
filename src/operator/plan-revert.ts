import type { EmployeeFields, FieldValue } from '../hire/hire.ts';
import { type FieldChange, listWrites } from '../store/foreign-writes.ts';
import { savePlan } from '../store/saved-plans.ts';
import type { ForeignWriteRow } from '../store/schema.ts';
import { fieldChanges, rowHash } from '../streams/land-page.ts';
import { type PlanEnds, type RowPlan, readStored } from '../streams/plan-page.ts';
import { landedNames, type PullName } from '../streams/streams.ts';
import { type OpenTenant, streamEnds } from './open-tenant.ts';
import { changesOf, type PlanView } from './writes.ts';

const PAGE = 100;

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
  if (ends.mapping.hash.startsWith(version)) notes.unshift(stillInForce(stream));
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

function stillInForce(stream: PullName): PlanView['notes'][number] {
  const reason = 'this mapping is still in force: the next sync writes its values again. Apply a corrected one first.';
  return { record: stream, what: 'warning', reason };
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
  for (let from = 0; from < ids.length; from += PAGE) {
    const some = ids.slice(from, from + PAGE);
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

/** The values to restore, and why others stay. */
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
