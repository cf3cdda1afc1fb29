import type { StoredRow } from '../../hris/port.ts';
import type { Mapping } from '../../mapping/load-mapping.ts';
import { findMappingVersions } from '../../store/mapping-versions.ts';
import { markRecords, readPlanRecords, type SavedPlan } from '../../store/saved-plans.ts';
import { type Destination, landRows } from '../../streams/land-rows.ts';
import { isAsPlanned, isDone, mapPage, type PlanEnds, type RowPlan, readStored } from '../../streams/plan-page.ts';
import { settleOpenWrites } from '../../streams/settle-open-writes.ts';
import type { PullName } from '../../streams/streams.ts';
import { withKnownTables } from '../../streams/with-tables.ts';
import { loadMappingVersion } from '../../tenants/open-hris.ts';
import type { OpenTenant } from '../open-tenant.ts';
import { type Applied, mappingGone } from './applied.ts';
import { readPages, streamEnds } from './stream-pages.ts';

const PAGE = 100;

interface Applying {
  ends: PlanEnds;
  destination: Destination;
  plan: SavedPlan;
  /** What is still to be written, by id. */
  left: Map<string, RowPlan>;
  applied: Applied;
}

/**
 * Writes what a plan has for a stream. A record that is no longer as it was planned from, at the partner or in its
 * row, is named and left alone. What an earlier, killed apply wrote is recognised and not written again.
 */
export async function applyStream(open: OpenTenant, plan: SavedPlan, by: string): Promise<Applied> {
  const { store, tenant, connection } = open;
  const stream = plan.subject as PullName;
  const mapping = await pinnedMapping(open, plan, stream);
  const ends = { ...streamEnds(connection, stream), mapping };
  await settleOpenWrites(store, ends.landing, ends);
  const records = await readPlanRecords<RowPlan>(store, plan.hash, 'planned');
  const origin = { tenantId: tenant.tenant, runId: plan.hash, mappingHash: mapping.hash, by };
  const applying: Applying = {
    ends,
    destination: { ...ends, force: true, store, origin },
    plan,
    left: new Map(records.map(({ id, change }) => [id, change])),
    applied: { written: 0, already: 0, changed: [], refused: [] },
  };
  if (plan.source === 'writes') await applyAll(applying);
  else await applyPages(open, applying);
  return applying.applied;
}

/** The mapping that made the plan, whichever is in force by now. */
async function pinnedMapping({ store, tenant, connection }: OpenTenant, plan: SavedPlan, stream: PullName) {
  const { mapping } = streamEnds(connection, stream);
  if (plan.source === 'writes' || mapping.hash === plan.mappingHash) return mapping;
  const versions = await findMappingVersions(store, plan.tenantId, plan.mappingHash ?? '');
  const version = versions.find(({ subject }) => subject === stream);
  const pinned: Mapping | undefined = version === undefined ? undefined : await loadMappingVersion(tenant, version);
  if (pinned === undefined) throw mappingGone(plan);
  return withKnownTables(store, plan.tenantId, pinned);
}

async function applyAll(applying: Applying): Promise<void> {
  const ids = [...applying.left.keys()];
  for (let from = 0; from < ids.length; from += PAGE) await applyRows(applying, ids.slice(from, from + PAGE));
}

/** Reads the partner's list again: what it shows must still come to what was planned. */
async function applyPages({ connection }: OpenTenant, applying: Applying): Promise<void> {
  const { ends, left } = applying;
  for await (const page of readPages(connection, ends.stream)) {
    if (left.size === 0) return;
    const { rows, leftOut } = mapPage(ends, page);
    const ids = [...rows.keys()].filter((id) => left.has(id));
    const same = ids.filter((id) => rows.get(id)?.hash === left.get(id)?.after.hash);
    const other = ids.filter((id) => rows.get(id)?.hash !== left.get(id)?.after.hash);
    const unread = leftOut.map(({ key }) => key).filter((id) => left.has(id));
    await leave(applying, [...other, ...unread], 'changed at the partner since the plan was made');
    await applyRows(applying, same);
  }
  await leave(applying, [...left.keys()], 'the partner no longer shows it');
}

async function applyRows(applying: Applying, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { ends, destination, plan, left, applied } = applying;
  const stored = await readStored(ends, ids);
  const judged = judge(left, ids, stored);
  await leave(applying, judged.changed, 'its row in the HR system changed since the plan was made');
  const rows = judged.due.flatMap((id) => {
    const change = left.get(id);
    return change === undefined ? [] : [{ id, ...change.after }];
  });
  const landed = await landRows(destination, rows);
  const refused = new Set(landed.refused.map(({ key }) => key));
  const written = judged.due.filter((id) => !refused.has(id));
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
