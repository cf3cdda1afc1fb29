import { keepMapping } from '../../../activities/keep-mapping.ts';
import type { Quarantined } from '../../store/quarantine.ts';
import { savePlan } from '../../store/saved-plans.ts';
import { fieldChanges } from '../../streams/land-rows.ts';
import { planPage, type RowPlan } from '../../streams/plan-page.ts';
import type { PullName } from '../../streams/streams.ts';
import type { OpenTenant } from '../open-tenant.ts';
import type { PlannedRecord, PlanView } from './plan-view.ts';
import { readPages, streamEnds } from './stream-pages.ts';

/** What the next sync of a stream would write, record by record. Reads both sides and keeps the plan. */
export async function planStream(
  { store, tenant, connection }: OpenTenant,
  stream: PullName,
  by: string,
): Promise<PlanView> {
  const ends = streamEnds(connection, stream);
  const changes = new Map<string, RowPlan>();
  const leftOut: Quarantined[] = [];
  let read = 0;
  for await (const page of readPages(connection, stream)) {
    const planned = await planPage(ends, page);
    for (const [id, change] of planned.changes) changes.set(id, change);
    leftOut.push(...planned.leftOut);
    read += page.items.length + page.unreadable.length;
  }
  const view = { tenant: tenant.tenant, subject: stream, mapping: ends.mapping.hash, read };
  const notes = leftOut.map(({ key, reason }) => ({ record: key, what: 'left out', reason }));
  if (changes.size === 0) return { ...view, records: [], notes };
  await keepMapping(store, tenant, { subject: stream, mapping: ends.mapping });
  const hash = await savePlan(store, {
    tenantId: tenant.tenant,
    subject: stream,
    source: 'records',
    mappingHash: ends.mapping.hash,
    by,
    records: [...changes].map(([id, change]) => ({ id, change })),
  });
  const sensitive = ends.mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  return { ...view, hash, records: [...changes].map(([id, change]) => viewRow(id, change, sensitive)), notes };
}

export function viewRow(id: string, { before, after }: RowPlan, sensitive: readonly string[]): PlannedRecord {
  return {
    record: id,
    target: 'row',
    kind: before === null ? 'create' : 'update',
    why: before === null ? 'no row holds it yet' : 'the record or the mapping changed since it landed',
    changes: fieldChanges(before?.fields, after.fields),
    sensitive,
  };
}
