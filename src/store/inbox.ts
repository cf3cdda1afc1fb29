import { type Expression, type ExpressionBuilder, type SqlBool, sql, type UpdateObject } from 'kysely';
import pg from 'pg';
import { selectRows } from '../sql/dialects.ts';
import { createConnection } from '../sql/open-database.ts';
import { within } from '../within.ts';
import { changedRows, has, onceNow, type Store, withTenantsOf } from './open-store.ts';
import { type InboxState, type LeftState, leftStates, type Tables } from './schema.ts';

/** The ids that an event carries, by kind, as the contract names the kinds. */
type DeliveryIds = Readonly<Record<string, readonly string[]>>;

export interface Delivery {
  tenantId: string;
  /** SHA-256 of the raw body, hex. */
  bodyHash: string;
  event: string;
  ids: DeliveryIds;
  body: string;
  state: Extract<InboxState, 'waiting' | 'ignored' | 'unknown' | 'other-company'>;
}

/** The event name in the inbox for a webhook of a tenant's HRIS: some of its employees changed. */
export const HRIS_CHANGED = 'hris.employees_changed';

/** The Postgres channel on which processes announce stored deliveries. */
const NEWS = 'hirebridge_inbox';
/** How long one relay may hold a row before another may take it. */
const LEASE_MS = 30_000;
const MAX_FAILURES = 10;
const RETRY_BASE_MS = 500;
const RETRY_CAP_MS = 60_000;

/** Still to be relayed, or left to a person. */
export type OpenInboxState = 'waiting' | LeftState;

/** The conditions of the indexes `inbox_waiting` and `inbox_left`, written literally so that the planner uses them. */
const IS_WAITING = sql<boolean>`state = 'waiting'`;
export const IS_LEFT = sql<boolean>`state in ('undeliverable', 'other-company', 'unknown')`;

/** 1 if work on deliveries of the row's tenant is possible. */
const isAtWork = (table: 'known' | 'inbox') => sql<number>`(select count(*) from tenants where
  tenants.tenant_id = ${sql.ref(`${table}.tenant_id`)} and state = 'active' and baseline_done_at is not null)`;

/** Commits one delivery; one that was stored before stays as it is. Resolves only when it is durable. */
export async function insertDelivery(store: Store, delivery: Delivery): Promise<{ fresh: boolean }> {
  return { fresh: (await insertDeliveries(store, [delivery])).size > 0 };
}

/** Commits deliveries in one statement. Returns the names (`nameOfDelivery`) of those not stored before. */
export async function insertDeliveries(store: Store, deliveries: readonly Delivery[]): Promise<Set<string>> {
  // In a fixed order, so that two receivers with the same deliveries cannot deadlock.
  const ordered = deliveries.toSorted((one, other) => (nameOfDelivery(one) < nameOfDelivery(other) ? -1 : 1));
  const rows = ordered.map(({ tenantId, bodyHash, ids, event, body, state }) => ({
    tenant_id: tenantId,
    body_hash: bodyHash,
    event,
    ids: JSON.stringify(ids),
    body,
    state,
    failures: 0,
  }));
  const columns = ['tenant_id', 'body_hash', 'event', 'ids', 'body', 'state', 'failures'];
  const { now } = store;
  const { rows: made } = await sql<{ tenant_id: string; body_hash: string }>`
    insert into inbox (${sql.join(columns.map((column) => sql.ref(column)))}, received_at, due_at, done_at)
    select came.*, ${now}, ${now}, case when came.state = 'waiting' then null else ${now} end
    from (${selectRows(store.kind, 'inbox', columns, rows)}) as came where true
    on conflict (tenant_id, body_hash) do nothing
    returning tenant_id, body_hash${store.kind === 'postgres' ? sql`, pg_notify(${NEWS}, '')` : sql``}`.execute(
    store.kysely,
  );
  return new Set(made.map(({ tenant_id: tenantId, body_hash: bodyHash }) => nameOfDelivery({ tenantId, bodyHash })));
}

/** On Postgres, calls `onStored` soon after any process stored deliveries. A hint, not a guarantee. */
export function listenForDeliveries(storeUrl: string, onStored: () => void): Listening {
  return listen(storeUrl, NEWS, onStored);
}

/** Number of characters in a delivery. */
export function weightOf({ body, ids }: Pick<Delivery, 'body' | 'ids'>): number {
  return body.length + JSON.stringify(ids).length;
}

function nameOfDelivery({ tenantId, bodyHash }: Pick<Delivery, 'tenantId' | 'bodyHash'>): string {
  return `${tenantId} ${bodyHash}`;
}

/** A delivery that this relay holds for a while. */
export interface LeasedDelivery extends Pick<Delivery, 'tenantId' | 'bodyHash' | 'event' | 'ids'> {
  /** Milliseconds on the database's clock. */
  receivedAt: number;
  /** Identifies this lease: once it expired and another relay took the delivery, this relay's result is ignored. */
  leasedUntil: number;
  /** How often relaying failed because of the delivery itself. */
  failures: number;
}

/** The result of a look at the inbox. */
interface InboxLook {
  /** Tenants with due deliveries, longest waiting first. */
  due: string[];
  /** Time until the next delivery of another tenant is due; absent if none waits for a time only. */
  nextInMs?: number;
}

/**
 * Finds due deliveries. A paused tenant, or one without a baseline, has none; one whose partner told it to wait has
 * none yet. Only tenants with waiting deliveries are looked at, so that an empty inbox costs one index step.
 */
export async function lookForDue(store: Store): Promise<InboxLook> {
  const { rows } = await sql<{ tenant_id: string; in_ms: number }>`
    ${withTenantsOf('inbox', IS_WAITING)},
    waiting as (
      select known.tenant_id, ${store.now} as now,
        ${isAtWork('known')} as at_work,
        (select due_at from inbox where inbox.tenant_id = known.tenant_id and state = 'waiting'
          order by due_at limit 1) as due_at,
        coalesce((select paused_until from rate_limits
          where rate_limits.tenant_id = known.tenant_id and upstream = 'partner'), 0) as paused_until
      from known
    )
    select tenant_id, case when due_at > paused_until then due_at else paused_until end - now as in_ms
    from waiting where at_work = 1 and due_at is not null order by due_at`.execute(store.kysely);
  const later = rows.map((row) => row.in_ms).filter((inMs) => inMs > 0);
  return {
    due: rows.filter((row) => row.in_ms <= 0).map((row) => row.tenant_id),
    ...(later.length === 0 ? {} : { nextInMs: Math.min(...later) }),
  };
}

/**
 * Leases a tenant's next `limit` due deliveries to this relay, oldest first, without events in `except`. Skips what
 * another relay has leased.
 */
export async function leaseDeliveries(
  store: Store,
  tenantId: string,
  limit: number,
  except: readonly string[] = [],
): Promise<LeasedDelivery[]> {
  const due = store.kysely
    .selectFrom('inbox')
    .select(['body_hash', 'event'])
    .where(has({ tenant_id: tenantId, state: 'waiting' }))
    .where('due_at', '<=', onceNow(store))
    .orderBy('due_at')
    .limit(limit);
  const locked = store.kind === 'postgres' ? due.forUpdate().skipLocked() : due;
  const rows = await store.kysely
    .with('due', () => locked)
    .updateTable('inbox')
    .set({ due_at: sql<number>`${store.now} + ${LEASE_MS}` })
    .where('tenant_id', '=', tenantId)
    .where('body_hash', 'in', (eb) => {
      const all = eb.selectFrom('due').select('due.body_hash');
      return except.length === 0 ? all : all.where('due.event', 'not in', except);
    })
    .returning(['tenant_id as tenantId', 'body_hash as bodyHash', 'event', 'ids', 'received_at as receivedAt'])
    .returning(['due_at as leasedUntil', 'failures'])
    .execute();
  const leased = rows.map((row) => ({ ...row, ids: JSON.parse(row.ids) as DeliveryIds }));
  return leased.sort((one, other) => one.receivedAt - other.receivedAt);
}

/** Keeps one tenant's deliveries leased while they are relayed. What another relay took keeps that relay's lease. */
export async function renewLeases(store: Store, rows: readonly LeasedDelivery[]): Promise<void> {
  await update(store, rows, { due_at: sql<number>`${store.now} + ${LEASE_MS}` });
}

/** Finishes deliveries of one tenant: their work is in Temporal or in `hints`, or they need none. */
export async function finishDeliveries(
  store: Store,
  rows: readonly LeasedDelivery[],
  state: 'relayed' | 'ignored',
): Promise<void> {
  await update(store, rows, { state, done_at: store.now, last_error: null });
}

/** Puts a delivery back for later; after ten failures it is undeliverable until a person brings it back. */
export async function failDelivery(store: Store, row: LeasedDelivery, reason: string): Promise<void> {
  const failed = { failures: row.failures + 1, last_error: reason };
  if (failed.failures >= MAX_FAILURES) {
    await update(store, [row], { ...failed, state: 'undeliverable', done_at: store.now });
    return;
  }
  const wait = Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** row.failures);
  await update(store, [row], { ...failed, due_at: sql<number>`${store.now} + ${wait}` });
}

/** Puts deliveries of one tenant back without a failure: their time has not come. */
export async function deferDeliveries(store: Store, rows: readonly LeasedDelivery[], waitMs: number): Promise<void> {
  await update(store, rows, { due_at: sql<number>`${store.now} + ${waitMs}` });
}

export interface InboxCount {
  tenantId: string;
  state: OpenInboxState;
  count: number;
  /** When the oldest of them arrived, milliseconds by the database's clock. */
  oldestAt: number;
  isAtWork: boolean;
}

/** Counts waiting and left deliveries of each tenant; finished ones are too many to count each time. */
export async function countOpenDeliveries(store: Store): Promise<InboxCount[]> {
  return (await Promise.all([IS_WAITING, IS_LEFT].map((open) => countWhere(store, open)))).flat();
}

async function countWhere(store: Store, open: Expression<SqlBool>): Promise<InboxCount[]> {
  const rows = await store.kysely
    .selectFrom('inbox')
    .select(['tenant_id as tenantId', 'state', (eb) => eb.fn.countAll<number>().as('count')])
    .select((eb) => [eb.fn.min<number>('received_at').as('oldestAt'), isAtWork('inbox').as('isAtWork')])
    .where(open)
    .groupBy(['tenant_id', 'state'])
    .$narrowType<{ state: OpenInboxState }>()
    .execute();
  return rows.map((row) => ({ ...row, isAtWork: row.isAtWork === 1 }));
}

/** Uses one statement for deliveries that were leased together. */
async function update(
  store: Store,
  rows: readonly LeasedDelivery[],
  change: UpdateObject<Tables, 'inbox'>,
): Promise<void> {
  for (const together of Map.groupBy(rows, ({ tenantId, leasedUntil }) => `${tenantId} ${leasedUntil}`).values()) {
    const [{ tenantId, leasedUntil }] = together as [LeasedDelivery];
    const hashes = together.map(({ bodyHash }) => bodyHash);
    const changed = await store.kysely
      .updateTable('inbox')
      .set(change)
      .where('tenant_id', '=', tenantId)
      .where('body_hash', 'in', hashes)
      .where(has({ state: 'waiting', due_at: leasedUntil }))
      .returning(['body_hash', 'due_at'])
      .execute();
    const dueAt = new Map(changed.map((row) => [row.body_hash, row.due_at]));
    for (const row of together) row.leasedUntil = dueAt.get(row.bodyHash) ?? leasedUntil;
  }
}

interface Listening {
  /** Whether a notification sent now is likely to arrive. */
  isHearing(): boolean;
  close(): Promise<void>;
}

const RECONNECT_MS = 1_000;
/** This connection only listens, so without a regular query a dead connection would look like silence. */
const ASK_EVERY_MS = 5_000;
const ASK_MS = 3_000;
/** A database that does not answer delays closing by this much at most. */
const CLOSE_MS = 1_000;

/**
 * Calls `onHeard` soon after a transaction that notified `channel` (`pg_notify`) was committed. A hint, not a
 * guarantee: a pooler may hold notifications back, and those sent while the connection is down are lost. SQLite cannot
 * notify; its `data_version` also changes with each write of this process, so polling it would fire after every step of
 * a hire.
 */
function listen(url: string, channel: string, onHeard: () => void): Listening {
  return url.startsWith('sqlite:')
    ? { isHearing: () => false, close: async () => undefined }
    : listenOnPostgres(url, channel, onHeard);
}

function listenOnPostgres(url: string, channel: string, onHeard: () => void): Listening {
  let timer: NodeJS.Timeout | undefined;
  let asking: NodeJS.Timeout | undefined;
  let closed = false;
  let hearing = false;
  let client = connect();

  function connect(): ReturnType<typeof createConnection> {
    const next = createConnection(url, ASK_MS);
    next.on('notification', onHeard);
    // Fires after a failed first attempt, and whenever the connection is lost.
    next.on('end', () => next === client && reconnectLater());
    void begin(next);
    return next;
  }

  async function begin(next: ReturnType<typeof createConnection>): Promise<void> {
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch {
      next.drop();
      reconnectLater();
      return;
    }
    hearing = true; // earlier notifications were missed
    onHeard();
    asking = setInterval(() => void next.query('select 1').catch(() => next.drop()), ASK_EVERY_MS);
  }

  function reconnectLater(): void {
    hearing = false;
    clearInterval(asking);
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => {
      client = connect();
    }, RECONNECT_MS);
  }

  return {
    isHearing: () => hearing,
    async close() {
      closed = true;
      clearTimeout(timer);
      clearInterval(asking);
      await within(
        CLOSE_MS,
        client.end().catch(() => undefined),
      );
      client.drop();
    },
  };
}

export interface StoredDelivery {
  tenantId: string;
  bodyHash: string;
  event: string;
  ids: DeliveryIds;
  state: InboxState;
  receivedAt: number;
  failures: number;
  /** Name or code of the last failure. */
  lastError: string | null;
}

export interface DeliveryFilter {
  states: readonly InboxState[];
  tenantId?: string | undefined;
  /** The first characters of the body's hash. */
  hash?: string | undefined;
  limit?: number | undefined;
}

/** Deliveries in these states, latest first, without their bodies. */
export async function listDeliveries(store: Store, filter: DeliveryFilter): Promise<StoredDelivery[]> {
  let query = store.kysely
    .selectFrom('inbox')
    .select(['tenant_id as tenantId', 'body_hash as bodyHash', 'event', 'ids', 'state', 'received_at as receivedAt'])
    .select(['failures', 'last_error as lastError'])
    .where(isChosen(filter))
    .orderBy('received_at', 'desc')
    .orderBy('body_hash');
  if (filter.states.every((state) => leftStates.some((left) => left === state))) query = query.where(IS_LEFT);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  return (await query.execute()).map((row) => ({ ...row, ids: JSON.parse(row.ids) as DeliveryIds }));
}

function isChosen({ states, tenantId, hash }: Omit<DeliveryFilter, 'limit'>) {
  return (eb: ExpressionBuilder<Tables, 'inbox'>): Expression<SqlBool> =>
    eb.and([
      eb('state', 'in', states),
      ...(tenantId === undefined ? [] : [eb('tenant_id', '=', tenantId)]),
      ...(hash === undefined ? [] : [sql<boolean>`substr(body_hash, 1, ${hash.length}) = ${hash}`]),
    ]);
}

/** Hands these to the relay again and resets their failures. Returns how many. */
export async function retryDeliveries(
  store: Store,
  filter: Omit<DeliveryFilter, 'limit' | 'states'> & { states: readonly LeftState[] },
): Promise<number> {
  return changedRows(arriving(store, filter).where(IS_LEFT));
}

/** Deliveries as if they had just arrived. */
function arriving({ kysely, now }: Store, filter: Omit<DeliveryFilter, 'limit'>) {
  const again = { state: 'waiting', failures: 0, due_at: now, last_error: null, done_at: null } as const;
  return kysely.updateTable('inbox').set(again).where(isChosen(filter));
}

/** Selects stored deliveries to replay; times are milliseconds by the database's clock. */
interface ReplayFilter {
  tenantId: string;
  /** The first characters of the body's hash. */
  hash?: string | undefined;
  received?: { from: number; to: number } | undefined;
}

/**
 * States that a replay takes: other companies' deliveries never were this tenant's; waiting ones are relayed anyway.
 */
const REPLAYED = ['relayed', 'ignored', 'unknown', 'undeliverable'] as const satisfies InboxState[];

/** Hands them to the relay as if they had just arrived. Returns how many. */
export async function replayDeliveries(store: Store, { tenantId, hash, received }: ReplayFilter): Promise<number> {
  const all = arriving(store, { states: REPLAYED, tenantId, hash });
  if (received === undefined) return changedRows(all);
  return changedRows(all.where('received_at', '>=', received.from).where('received_at', '<=', received.to));
}

/** Statements that run at the same time. */
const AT_ONCE = 2;
/** Deliveries in one statement, and characters of their bodies: a large delivery goes alone. */
const MOST = { deliveries: 100, characters: 1_000_000 };
/** A statement that takes longer is no longer counted as running; the connection pool limits a database that hangs. */
const SLOW_MS = 5_000;

interface Waiting {
  delivery: Delivery;
  signal: AbortSignal | undefined;
  stored: (outcome: { fresh: boolean }) => void;
  failed: (error: unknown) => void;
}

/**
 * Commits deliveries as they arrive. Deliveries that arrive while statements run share the next statement and its wait
 * for the disk: in a burst the store does a tenth of the work, while a lone delivery waits for nothing. Tenants take
 * turns. A delivery whose `signal` aborts before its statement began is dropped.
 */
export function createDeliveryBatches(
  store: Store,
): (delivery: Delivery, signal?: AbortSignal) => Promise<{ fresh: boolean }> {
  const waiting: Waiting[] = [];
  let [underWay, isDue] = [0, false];

  function next(): void {
    if (isDue || underWay === AT_ONCE || waiting.length === 0) return;
    isDue = true;
    beginUnlessMore(0);
  }

  /**
   * Waits while each turn of the event loop brings more; a turn accepts one connection. A commit holds this process up
   * in SQLite: without the wait each delivery would be committed alone, before the next one is read.
   */
  function beginUnlessMore(before: number): void {
    setImmediate(() => {
      if (waiting.length > before && waiting.length < MOST.deliveries) return beginUnlessMore(waiting.length);
      isDue = false;
      if (waiting.length === 0) return;
      underWay += 1;
      void within(SLOW_MS, commitTogether(store, takeSome(waiting))).finally(() => {
        underWay -= 1;
        next();
      });
      next();
    });
  }

  return (delivery, signal) =>
    new Promise((stored, failed) => {
      signal?.throwIfAborted();
      const one = { delivery, signal, stored, failed };
      signal?.addEventListener('abort', () => forget(waiting, one, signal.reason), { once: true });
      waiting.push(one);
      next();
    });
}

function forget(waiting: Waiting[], one: Waiting, reason: unknown): void {
  const place = waiting.indexOf(one);
  if (place === -1) return;
  waiting.splice(place, 1);
  one.failed(reason);
}

/** Takes one delivery of each tenant by turns, so that a tenant that sends hundreds holds up nobody else's. */
function takeSome(waiting: Waiting[]): Waiting[] {
  const queues = [...Map.groupBy(waiting, ({ delivery }) => delivery.tenantId).values()];
  const inTurn = waiting.slice(0, MOST.deliveries).flatMap((_, turn) => queues.flatMap((queue) => queue[turn] ?? []));
  let characters = 0;
  const end = inTurn.findIndex(({ delivery }, place) => {
    characters += weightOf(delivery);
    return place > 0 && (place === MOST.deliveries || characters > MOST.characters);
  });
  const taken = new Set(end === -1 ? inTurn : inTurn.slice(0, end));
  waiting.splice(0, waiting.length, ...waiting.filter((one) => !taken.has(one)));
  return [...taken];
}

/**
 * If the batch cannot be stored together, stores each delivery alone, so that one refused delivery fails no other. One
 * after the other, while its sender waits: a store in trouble must not get a hundred statements for one that failed.
 */
async function commitTogether(store: Store, batch: readonly Waiting[]): Promise<void> {
  try {
    const fresh = await insertDeliveries(
      store,
      batch.map(({ delivery }) => delivery),
    );
    // The batch may hold the same body twice: only the first copy is reported as fresh.
    for (const { delivery, stored } of batch) stored({ fresh: fresh.delete(nameOfDelivery(delivery)) });
  } catch (error) {
    for (const { delivery, signal, stored, failed } of batch)
      if (batch.length === 1 || signal?.aborted === true) failed(error);
      else await insertDelivery(store, delivery).then(stored, failed);
  }
}
