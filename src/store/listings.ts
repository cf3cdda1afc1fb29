import { sql } from 'kysely';
import { type HireState, hireStates } from '../hire/hire.ts';
import { WAITING } from './holds.ts';
import { IS_LEFT } from './inbox.ts';
import { unnotedCreates } from './intents.ts';
import { given, has, type Store } from './open-store.ts';
import { employedRows } from './people.ts';
import type { AuditRow, HireRow, InboxState, QuarantineRow } from './schema.ts';
import { ofStream } from './streams.ts';

/** Selects rows of a list: tenants, place to start, and count. Every list is read page by page through an index. */
interface Listed<Place> {
  /** All tenants if absent. */
  tenantIds?: readonly string[] | undefined;
  /** Rows after this one; the first rows if absent. */
  after?: Place | undefined;
  limit: number;
}

type HirePlace = readonly [openedAt: number, tenantId: string, jobCandidateId: string, period: number];

interface HirePageFilter extends Listed<HirePlace> {
  state?: HireState | undefined;
}

/**
 * Hires of all periods, latest opened first. Reads each state through its own index and merges the results, which saves
 * an index of all hires by time.
 */
export async function listHiresPage(store: Store, filter: HirePageFilter): Promise<HireRow[]> {
  const { state, limit } = filter;
  const states = state === undefined ? hireStates : [state];
  const found = await Promise.all(states.map((one) => hiresInState(store, one, filter)));
  return found.flat().sort(newestFirst).slice(0, limit);
}

function hiresInState({ kysely }: Store, state: HireState, filter: HirePageFilter): Promise<HireRow[]> {
  const { tenantIds, after, limit } = filter;
  let query = kysely
    .selectFrom('hires')
    .selectAll()
    .$call(given({ state, tenant_id: tenantIds }));
  if (after !== undefined) query = query.where('opened_at', '<=', after[0]).where(isBehind(after));
  return query
    .orderBy('opened_at', 'desc')
    .orderBy('tenant_id')
    .orderBy('job_candidate_id')
    .orderBy('period', 'desc')
    .limit(limit)
    .execute();
}

export interface HireSearch {
  /** All tenants if absent. */
  tenantIds?: readonly string[] | undefined;
  state?: HireState | undefined;
  /** Values of which a hire has at least one. */
  anyOf: Partial<Record<'candidate_id' | 'job_candidate_id' | 'employee_id' | 'employee_number', readonly string[]>>;
  after?: HirePlace | undefined;
  limit?: number;
}

/** The hires of these people, latest opened first. They are few, so they are sorted here. */
export async function findHires({ kysely }: Store, search: HireSearch): Promise<HireRow[]> {
  const { tenantIds, state, anyOf, after, limit } = search;
  const named = (Object.keys(anyOf) as (keyof typeof anyOf)[]).filter((column) => anyOf[column]?.length);
  const all = kysely
    .selectFrom('hires')
    .selectAll()
    .where((eb) => eb.or(named.map((column) => eb(column, 'in', anyOf[column] ?? []))));
  const found = await all.$call(given({ tenant_id: tenantIds, state })).execute();
  return found
    .filter((one) => after === undefined || comesAfter(one, after))
    .sort(newestFirst)
    .slice(0, limit);
}

function comesAfter(row: HireRow, [opened_at, tenant_id, job_candidate_id, period]: HirePlace): boolean {
  return newestFirst(row, { opened_at, tenant_id, job_candidate_id, period }) > 0;
}

function isBehind([openedAt, tenantId, jobCandidateId, period]: HirePlace) {
  return sql<boolean>`(opened_at < ${openedAt} or (tenant_id, job_candidate_id) > (${tenantId}, ${jobCandidateId})
    or (tenant_id = ${tenantId} and job_candidate_id = ${jobCandidateId} and period < ${period}))`;
}

type Placed = Pick<HireRow, 'opened_at' | 'tenant_id' | 'job_candidate_id' | 'period'>;

function newestFirst(a: Placed, b: Placed): number {
  if (a.opened_at !== b.opened_at) return b.opened_at - a.opened_at;
  if (a.tenant_id !== b.tenant_id) return a.tenant_id < b.tenant_id ? -1 : 1;
  if (a.job_candidate_id !== b.job_candidate_id) return a.job_candidate_id < b.job_candidate_id ? -1 : 1;
  return b.period - a.period;
}

/** Of these open hires: their unanswered questions, and those whose employee was sent and is not confirmed yet. */
export async function readWaits(store: Store, hires: readonly HireRow[]) {
  if (hires.length === 0) return { asked: [], sent: [] };
  const tenantIds = [...new Set(hires.map((one) => one.tenant_id))];
  const ids = [...new Set(hires.map((one) => one.job_candidate_id))];
  const [asked, sent] = await Promise.all([
    store.kysely
      .selectFrom('holds')
      .select(['hold_id', 'code', 'tenant_id', 'job_candidate_id', 'period'])
      .where(WAITING)
      .$call(given({ answered_at: null, tenant_id: tenantIds, job_candidate_id: ids }))
      .execute(),
    unnotedCreates(store, ['done'])
      .select(['hires.tenant_id', 'hires.job_candidate_id', 'hires.period'])
      .$call(given({ 'hires.tenant_id': tenantIds, 'hires.job_candidate_id': ids }))
      .execute(),
  ]);
  return { asked, sent };
}

export interface DeliveryPageFilter extends Listed<readonly [receivedAt: number, bodyHash: string]> {
  /** If absent, deliveries that nothing acts upon. */
  state?: InboxState | undefined;
  /** The first characters of the hash, or part of the event or of its ids. */
  text?: string | undefined;
}

/** How many deliveries a text search reads: people look for recent ones, and more would read the whole inbox. */
const MOST_SEARCHED = 2_000;

/**
 * Deliveries, latest first, without their bodies. Across several tenants only those that nothing acts upon, since only
 * they have an index for that.
 */
export async function listDeliveriesPage({ kysely }: Store, filter: DeliveryPageFilter) {
  const { tenantIds, after, limit, state, text } = filter;
  let query = kysely
    .selectFrom('inbox')
    .select(['tenant_id', 'body_hash', 'event', 'ids', 'state', 'received_at', 'failures', 'last_error'])
    .$call(given({ tenant_id: tenantIds, state }))
    .orderBy('received_at', 'desc')
    .orderBy('body_hash', 'desc');
  if (tenantIds?.length !== 1) query = query.where(IS_LEFT);
  if (after !== undefined) query = query.where(sql<boolean>`(received_at, body_hash) < (${after[0]}, ${after[1]})`);
  if (text === undefined) return query.limit(limit).execute();
  const wanted = text.toLowerCase();
  const rows = await query.limit(MOST_SEARCHED).execute();
  const holds = (one: (typeof rows)[number]): boolean =>
    one.body_hash.startsWith(wanted) || `${one.event} ${one.ids}`.toLowerCase().includes(wanted);
  return rows.filter(holds).slice(0, limit);
}

/** One delivery with its body, which is empty after a purge. */
export async function readDelivery({ kysely }: Store, tenantId: string, hash: string) {
  return (
    kysely
      .selectFrom('inbox')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      // A range on the key's order finds hashes by their first characters.
      .where('body_hash', '>=', hash)
      .where('body_hash', '<', `${hash}g`)
      .limit(1)
      .executeTakeFirst()
  );
}

export interface AuditFilter extends Listed<readonly [at: number, skip: number]> {
  by?: string | undefined;
  act?: AuditRow['act'] | undefined;
  /** Milliseconds on the database's clock. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Acts of people, latest first. Rows have no key, so a place is a time and the number of its rows already shown. */
export async function listAudit({ kysely }: Store, filter: AuditFilter): Promise<AuditRow[]> {
  const { tenantIds, after, limit, by, act, from, to } = filter;
  let query = kysely.selectFrom('audit').selectAll().orderBy('at', 'desc').orderBy('act').orderBy('by').limit(limit);
  query = query.$call(given({ tenant_id: tenantIds, by, act }));
  if (from !== undefined) query = query.where('at', '>=', from);
  if (to !== undefined) query = query.where('at', '<', to);
  if (after !== undefined) query = query.where('at', '<=', after[0]).offset(after[1]);
  return query.execute();
}

interface QuarantineFilter {
  tenantId: string;
  stream: string;
  after?: readonly [recordKey: string] | undefined;
  limit: number;
}

/** Records that a stream leaves out, by their keys. */
export async function listQuarantine({ kysely }: Store, filter: QuarantineFilter): Promise<QuarantineRow[]> {
  const { tenantId, stream, after, limit } = filter;
  let query = kysely
    .selectFrom('quarantine')
    .selectAll()
    .where(ofStream({ tenantId, stream }))
    .orderBy('record_key')
    .limit(limit);
  if (after !== undefined) query = query.where('record_key', '>', after[0]);
  return query.execute();
}

/** Open holds with one code: how many, of how many tenants and hires, and since when. */
export interface HoldCause {
  code: string;
  holds: number;
  tenants: number;
  hires: number;
  oldestAt: number;
}

/** Unanswered open holds, by code. */
export async function countHoldCauses({ kysely }: Store, tenantIds?: readonly string[]): Promise<HoldCause[]> {
  return kysely
    .selectFrom('holds')
    .select([
      'code',
      sql<number>`count(*)`.as('holds'),
      sql<number>`count(distinct tenant_id)`.as('tenants'),
      sql<number>`count(job_candidate_id)`.as('hires'),
      sql<number>`min(opened_at)`.as('oldestAt'),
    ])
    .where(WAITING)
    .$call(given({ answered_at: null, tenant_id: tenantIds }))
    .groupBy('code')
    .execute();
}

/** How many hires of these tenants began in each of the last 24 hours, the oldest hour first. */
export async function countBegunByHour(
  { kysely }: Store,
  tenantIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number[]>> {
  if (tenantIds.length === 0) return new Map();
  const since = now - 24 * 3_600_000;
  const hour = sql<number>`floor((opened_at - ${sql.lit(since)}) / 3600000)`;
  const rows = await kysely
    .selectFrom('hires')
    .select(['tenant_id', hour.as('hour'), sql<number>`count(*)`.as('count')])
    .where('tenant_id', 'in', tenantIds)
    .where('opened_at', '>', since)
    .where('state', '<>', 'before-go-live')
    .groupBy(['tenant_id', hour])
    .execute();
  const counts = new Map(tenantIds.map((id) => [id, Array.from({ length: 24 }, () => 0)]));
  for (const row of rows) {
    const hours = counts.get(row.tenant_id);
    if (hours !== undefined) hours[Math.min(23, Math.max(0, Number(row.hour)))] = row.count;
  }
  return counts;
}

/** At most this many deliveries, the latest. */
const MOST_DELIVERIES = 200;
/** An event may arrive this long before the hire that it leads to is opened. */
const BEFORE_MS = 3_600_000;
/** At most this many of the tenant's later deliveries are searched. */
const MOST_LATER = 5_000;
/** An event this long after the last change of an ended hire has changed nothing. */
const AFTER_MS = 24 * 3_600_000;

/** All that the store keeps about one hire, without personal data. */
export async function readHireRecords(store: Store, hire: HireRow) {
  const { tenant_id, job_candidate_id, period } = hire;
  const key = { tenant_id, job_candidate_id, period };
  const { kysely } = store;
  const [deliveries, intents, plans, holds, documents, steps, links] = await Promise.all([
    deliveriesOf(store, hire),
    kysely.selectFrom('intents').selectAll().where(has(key)).execute(),
    kysely
      .selectFrom('plans')
      .select(['plan_id', 'mapping_hash', 'planned_at', 'applied_at'])
      .where(has(key))
      .execute(),
    kysely.selectFrom('holds').selectAll().where(has(key)).execute(),
    kysely
      .selectFrom('hire_documents')
      .select(['document', 'state', 'attempt', 'sha256', 'reason', 'sent_at', 'read_back_at'])
      .where(has(key))
      .execute(),
    kysely.selectFrom('hire_steps').selectAll().where(has(key)).execute(),
    kysely
      .selectFrom(employedRows(store).as('employed'))
      .select(['employee_id', 'employee_number', 'linked_at'])
      .where(has(key))
      .execute(),
  ]);
  return { hire, deliveries, intents, plans, holds, documents, steps, links };
}

export type HireRecords = Awaited<ReturnType<typeof readHireRecords>>;

/** Events that carry an id of this hire. Ids are quoted in the JSON, so a search for 12 does not find 512. */
async function deliveriesOf(store: Store, hire: HireRow) {
  const ids = [hire.job_candidate_id, hire.onboarding_candidate_id].filter((id) => id !== null);
  let since = store.kysely
    .selectFrom('inbox')
    .select(['event', 'ids', 'state', 'received_at', 'done_at'])
    .where('tenant_id', '=', hire.tenant_id)
    .where('received_at', '>=', hire.opened_at - BEFORE_MS)
    .orderBy('received_at')
    .limit(MOST_LATER);
  if (hire.state !== 'open') since = since.where('received_at', '<=', hire.updated_at + AFTER_MS);
  return store.kysely
    .selectFrom(since.as('since'))
    .selectAll()
    .where((eb) => eb.or(ids.map((id) => eb('ids', 'like', `%${JSON.stringify(id)}%`))))
    .orderBy('received_at', 'desc')
    .limit(MOST_DELIVERIES)
    .execute();
}
