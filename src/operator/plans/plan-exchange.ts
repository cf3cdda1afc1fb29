import { PAGE_SIZE } from '../../../activities/exchange/exchange-pairs.ts';
import { openContext, scopeOf } from '../../../activities/exchange/open-context.ts';
import { type ReadPair, readPairs } from '../../../activities/exchange/read-pairs.ts';
import type { FieldWrite } from '../../exchange/plan-pair.ts';
import type { Side } from '../../hire/side.ts';
import { type PairEntity, pairPages } from '../../store/linked-pairs.ts';
import type { StreamName } from '../../streams/streams.ts';
import { type OpenTenant, patiently } from '../open-tenant.ts';
import type { PlannedRecord, PlanView } from './plan-view.ts';

/**
 * What the next run of an exchange would write on either side, pair by pair. There is no hash to apply: a run decides
 * from what both sides hold by then.
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

/** What the records of a pair are called on their sides. */
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

/** What a run would leave as it is. */
function notesOf({ pair: { pairId: record }, found }: ReadPair): PlanView['notes'] {
  const leftOut = (reason: string) => [{ record, what: 'left out', reason }];
  if ('missing' in found) return leftOut(`not found at the ${found.missing === 'hris' ? 'HR system' : 'partner'}`);
  if ('unreadable' in found) return leftOut(found.unreadable);
  if ('settles' in found) return leftOut('what was written last still settles');
  const left = found.plan.findings.filter(({ kind }) => kind !== 'put-back' && kind !== 'conflict');
  return left.map(({ field, kind, code }) => ({ record, what: kind, reason: [field, code ?? ''].join(' ').trim() }));
}
