import { keepMapping } from '../../activities/connections.ts';
import { PAGE_SIZE } from '../../activities/exchange/exchange-pairs.ts';
import { type ReadPair, readPairs } from '../../activities/exchange/read-pairs.ts';
import { openContext, scopeOf } from '../../activities/exchange/read-sides.ts';
import { findOptions } from '../../activities/options/push-options.ts';
import type { FieldWrite } from '../exchange/plan-pair.ts';
import type { Side } from '../hire/hire.ts';
import { goingIn, optionsAfter } from '../plan/plan-options.ts';
import { type PairEntity, pairPages } from '../store/linked-pairs.ts';
import { savePlan } from '../store/plans.ts';
import type { Quarantined } from '../store/quarantine.ts';
import { fieldChanges, planPage, type RowPlan } from '../streams/land-page.ts';
import { exchangeNames, type PullName, type StreamName } from '../streams/streams.ts';
import { refusedRecords } from '../streams/without-erased.ts';
import { currentPages, fittedEnds, type OpenTenant, patiently, streamEnds, streamsToPlan } from './open-tenant.ts';
import type { PlannedRecord, PlanView } from './writes.ts';

/** What the next runs would write, for one stream or for every landing or two-way stream. */
export async function planStreams(open: OpenTenant, name: string | undefined, by: string): Promise<PlanView[]> {
  const exchanges = exchangeNames.filter((one) =>
    name === undefined ? open.connection.exchanges[one] !== undefined : one === name,
  );
  const views: PlanView[] = [];
  if (name === 'options' || (name === undefined && open.tenant.options !== undefined))
    views.push(await planOptionSets(open));
  if (name === 'options') return views;
  if (name === undefined || exchanges.length === 0)
    for (const stream of streamsToPlan(open.connection, name)) views.push(await planStream(open, stream, by));
  for (const stream of exchanges) views.push(await planExchange(open, stream));
  return views;
}

/** What the next sync of a stream would write, record by record. Reads both sides and saves the plan. */
async function planStream(open: OpenTenant, stream: PullName, by: string): Promise<PlanView> {
  const { store, tenant, connection } = open;
  const ends = await fittedEnds(open, streamEnds(connection, stream));
  const changes = new Map<string, RowPlan>();
  const leftOut: Quarantined[] = [];
  let read = 0;
  for await (const page of currentPages(open, ends)) {
    const refused = await refusedRecords(store, tenant, stream, page.items);
    const items = page.items.filter((item) => !refused.has(String(item['id'])));
    const planned = await planPage(ends, { ...page, items });
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

function viewRow(id: string, { before, after }: RowPlan, sensitive: readonly string[]): PlannedRecord {
  return {
    record: id,
    target: 'row',
    kind: before === null ? 'create' : 'update',
    why: before === null ? 'no row holds it yet' : 'the record or the mapping changed since it landed',
    changes: fieldChanges(before?.fields, after.fields),
    sensitive,
  };
}

/**
 * What the next run of an exchange would write to each side, pair by pair. It has no hash to apply: a run decides from
 * the values it finds itself.
 */
export async function planExchange({ tenant, connection, deps }: OpenTenant, stream: StreamName): Promise<PlanView> {
  const asked = { tenantId: tenant.tenant, stream, runId: 'plan', full: false, begun: false };
  const context = await openContext(deps, connection, asked);
  const view = { tenant: tenant.tenant, subject: stream, mapping: context.mapping.hash };
  const records: PlannedRecord[] = [];
  const notes: PlanView['notes'] = [];
  let read = 0;
  for await (const pairs of pairPages(deps.store, scopeOf(context), PAGE_SIZE)) {
    for (const one of await patiently(() => readPairs(context, pairs))) {
      records.push(...recordsOf(one, NAMES[context.entity]));
      notes.push(...notesOf(one));
    }
    read += pairs.length;
  }
  return { ...view, read, records, notes };
}

/** What the next run would do with the options of each field. It has no hash to apply, like an exchange. */
async function planOptionSets({ tenant, connection, deps }: OpenTenant): Promise<PlanView> {
  const key = { tenantId: tenant.tenant, stream: 'options' } as const;
  const view: PlanView = { tenant: key.tenantId, subject: 'options', mapping: null, read: 0, records: [], notes: [] };
  for (const set of tenant.options ?? []) {
    const found = await patiently(() => findOptions({ deps, connection, key, runId: 'plan' }, set));
    const { field, options, entries, plan, uses } = found;
    view.read += entries.length;
    const record = `${field.label} (${field.id})`;
    const isHeld = (label: string): boolean => uses.labels.has(label);
    const follow = plan.rename.filter(({ from }) => [...uses.holders.values()].some((held) => held.has(from)));
    const stay = new Set(goingIn(plan).filter(isHeld));
    if (uses.unknown === undefined) for (const { from } of follow) stay.delete(from);
    const after = optionsAfter(options, plan, stay);
    const why = `the list ${set.list} of the HR system has other entries`;
    const changes = { options: { old: [...options], new: after } };
    const isEqual = JSON.stringify(options) === JSON.stringify(after);
    if (!isEqual) view.records.push({ record, target: 'custom field', kind: 'update', why, changes, sensitive: [] });
    const note = (label: string, reason: string) => ({ record, what: 'left as it is', reason: `${label}: ${reason}` });
    view.notes.push(
      ...[...stay].map((label) => note(label, `${uses.unknown ?? 'in use'}, so it stays`)),
      ...plan.waiting.map((label) => note(label, 'missed for the first time; the next pass takes it away')),
      ...follow.map(({ from, to }) => ({
        record,
        what: 'values',
        reason: `${from} becomes ${to} wherever it is used`,
      })),
    );
  }
  return view;
}

const NAMES: Record<PairEntity, Record<Side, string>> = {
  candidate: { partner: 'candidate', hris: 'employee' },
  job: { partner: 'job', hris: 'position' },
};

function recordsOf({ pair, found }: ReadPair, names: Record<Side, string>): PlannedRecord[] {
  if (!('plan' in found)) return [];
  const { toHris, toPartner } = found.plan;
  return [
    ...recordOf(pair.pairId, names.hris, 'the hiring platform holds another value', toHris),
    ...recordOf(pair.partnerId, names.partner, 'the HR system holds another value', toPartner),
  ];
}

function recordOf(record: string, target: string, why: string, writes: readonly FieldWrite[]): PlannedRecord[] {
  if (writes.length === 0) return [];
  const changes = Object.fromEntries(writes.map(({ field, old, new: value }) => [field, { old, new: value }]));
  const sensitive = writes.filter(({ isSensitive }) => isSensitive).map(({ field }) => field);
  return [{ record, target, kind: 'update', why, changes, sensitive }];
}

/** What a run would leave unchanged, and why. */
function notesOf({ pair: { pairId: record }, found }: ReadPair): PlanView['notes'] {
  const leftOut = (reason: string) => [{ record, what: 'left out', reason }];
  if ('missing' in found) return leftOut(`not found at the ${found.missing === 'hris' ? 'HR system' : 'partner'}`);
  if ('unreadable' in found) return leftOut(found.unreadable);
  if ('settles' in found) return leftOut('the last write may not be visible yet');
  const left = found.plan.findings.filter(({ kind }) => kind !== 'put-back' && kind !== 'conflict');
  return left.map(({ field, kind, code }) => ({ record, what: kind, reason: [field, code ?? ''].join(' ').trim() }));
}
