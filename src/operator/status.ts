import type { HireState } from '../hire/hire.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import { listAlarms } from '../store/alarms.ts';
import { listAppliedTenants } from '../store/applied-tenants.ts';
import { listFreezes, observes } from '../store/freezes.ts';
import { oldestHints } from '../store/hints.ts';
import { countBegun, countHires } from '../store/hires.ts';
import { countOpenHolds, listHolds } from '../store/holds.ts';
import { countOpenDeliveries, type InboxCount, type OpenInboxState } from '../store/inbox.ts';
import { countRefusedPairs } from '../store/linked-pairs.ts';
import { countBegunByHour, countHoldCauses, type HoldCause } from '../store/listings.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { listAnswers, listProcesses, type Role, type SeenProcess } from '../store/processes.ts';
import { countQuarantined } from '../store/quarantine.ts';
import { hrisAccount, viewRateLimits } from '../store/rate-limits.ts';
import type { AlarmRow, HoldRow, StreamRow } from '../store/schema.ts';
import type { StreamState } from '../store/stream-tables.ts';
import { listStreamStates, listStreams, type StreamState as Standing } from '../store/streams.ts';
import { listTenantStates, type TenantState } from '../store/tenant-states.ts';
import { readWebhookFacts, type WebhookFacts } from '../store/webhook-refusals.ts';
import { judgeWebhooks } from './deliveries.ts';
import { readAppliedTenant } from './tenants.ts';

/** The content of `status`: counts, ages (ms by the database's clock) and codes. No personal data. */
export interface Status {
  installationId: string;
  /** The processes that run, and those that should. */
  processes: RoleStatus[];
  /** Stops of writes to partner and HR system: the fleet's first, then those of single tenants. */
  freezes: { tenantId?: string; ageMs: number; by: string }[];
  tenants: TenantStatus[];
  holds: {
    holdId: string;
    tenantId: string;
    jobCandidateId: string | null;
    code: string;
    message: string;
    ageMs: number;
  }[];
}

export interface TenantStatus {
  tenantId: string;
  state: TenantState['state'] | 'not seen yet';
  /** It reads and plans, and writes nothing. */
  onlyObserves?: true;
  /** Why the tenant is paused. */
  paused?: { code: string; message: string };
  baseline: 'done' | 'running' | 'not started';
  reconcileAgeMs?: number;
  /** How long ago each side last answered; absent if it never did. */
  answeredMs: { partner?: number; hris?: number };
  creditGateClosed: boolean;
  hires: Partial<Record<HireState, number>>;
  /** Hires begun within the last 24 hours. */
  begunLastDay: number;
  /** Deliveries that wait, and those that nothing acts upon. */
  inbox: { counts: Partial<Record<OpenInboxState, number>>; oldestWaitingMs?: number };
  /** The latest run of each stream that ever ran. */
  streams: StreamStatus[];
  /** Trouble that lasts, oldest first. */
  alarms: { kind: string; subject: string; reason: string; message: string; ageMs: number }[];
  /** The learned limits, and how calls fare under them. */
  rateLimits: RateLimitView[];
  /** The trouble with its webhooks, and the next step. */
  webhookWarning?: string;
}

/** A tenant from its file. */
interface KnownTenant {
  tenantId: string;
  webhooks: 'on' | 'off';
}

const DAY_MS = 86_400_000;

/** Reads the state of these tenants, and of every tenant that the store knows. */
export async function readStatus(store: Store, known: readonly KnownTenant[]): Promise<Status> {
  const now = await readClock(store);
  const [rows, hires, begun, deliveries, holds, streams, alarms, webhooks, freezes, rateLimits, processes, answers] =
    await Promise.all([
      listTenantStates(store),
      countHires(store),
      countBegun(store, now - DAY_MS),
      countOpenDeliveries(store),
      listHolds(store),
      readStreams(store, now),
      listAlarms(store),
      readWebhookFacts(store),
      listFreezes(store),
      viewRateLimits(store),
      readProcesses(store, now, known),
      listAnswers(store),
    ]);
  const dropped = await droppedStreams(store, streams);
  const states = new Map(rows.map((row) => [row.tenant_id, row]));
  const hiresOf = Map.groupBy(hires, ({ tenantId }) => tenantId);
  const deliveriesOf = Map.groupBy(deliveries, ({ tenantId }) => tenantId);
  const alarmsOf = Map.groupBy(alarms, (alarm) => alarm.tenant_id);
  const rateLimitsOf = Map.groupBy(rateLimits, (view) => view.tenantId);
  const webhooksOf = new Map(known.map((tenant) => [tenant.tenantId, tenant.webhooks]));
  const ids = [...new Set([...known.map(({ tenantId }) => tenantId), ...states.keys()])].sort();
  const tenants = ids.map((tenantId) => ({
    ...tenantFacts(tenantId, states.get(tenantId), now),
    answeredMs: answeredFacts(answers.get(tenantId), now),
    hires: countsByState(hiresOf.get(tenantId) ?? []),
    begunLastDay: begun.get(tenantId) ?? 0,
    inbox: inboxFacts(deliveriesOf.get(tenantId) ?? [], now),
    streams: (streams.get(tenantId) ?? []).filter(
      ({ stream, refused }) => !refused || !dropped.has(`${tenantId} ${stream}`),
    ),
    alarms: (alarmsOf.get(tenantId) ?? []).map((alarm) => alarmFacts(alarm, now)),
    rateLimits: rateLimitsOf.get(tenantId) ?? [],
    ...warningOf(webhooksOf.get(tenantId), tenantId, webhooks, now),
  }));
  return {
    installationId: store.installationId,
    processes,
    freezes: freezes.map(({ since, ...freeze }) => ({ ...freeze, ageMs: now - since })),
    tenants,
    holds: holds.map((hold) => holdFacts(hold, now)),
  };
}

/** Streams that were refused before, and that their tenant's later definition no longer has. */
async function droppedStreams(
  store: Store,
  streams: ReadonlyMap<string, readonly StreamStatus[]>,
): Promise<ReadonlySet<string>> {
  const refused = [...streams].filter(([, own]) => own.some((one) => one.refused !== undefined));
  if (refused.length === 0) return new Set();
  // Reading definitions loads schemas and mappings, so do it only if a stream was refused.
  const { parseTenant } = await import('../tenants/load-tenants.ts');
  const applied = new Map((await listAppliedTenants(store)).map((one) => [one.tenantId, one]));
  const dropped = refused.map(async ([tenantId, own]) => {
    const definition = applied.get(tenantId);
    const tenant = definition && (await parseTenant(definition).catch(() => undefined));
    if (tenant === undefined) return [];
    const has = (stream: string): boolean => tenant.streams[stream as keyof typeof tenant.streams]?.every !== undefined;
    return own.filter(({ stream }) => !has(stream)).map(({ stream }) => `${tenantId} ${stream}`);
  });
  return new Set((await Promise.all(dropped)).flat());
}

/** What the store knows of a tenant itself. */
type TenantFacts = Pick<
  TenantStatus,
  'tenantId' | 'state' | 'onlyObserves' | 'baseline' | 'creditGateClosed' | 'paused' | 'reconcileAgeMs'
>;

function tenantFacts(tenantId: string, row: TenantState | undefined, now: number): TenantFacts {
  if (row === undefined) return { tenantId, state: 'not seen yet', baseline: 'not started', creditGateClosed: false };
  const paused =
    row.state === 'paused' ? { paused: { code: row.paused_code ?? '', message: row.paused_message ?? '' } } : {};
  const reconciled = row.reconciled_at === null ? {} : { reconcileAgeMs: now - Number(row.reconciled_at) };
  const mode = observes(row) ? { onlyObserves: true as const } : {};
  const begun = row.baseline_started_at === null ? 'not started' : 'running';
  const baseline = row.baseline_done_at === null ? begun : 'done';
  const creditGateClosed = row.credit_gate !== null;
  return { tenantId, state: row.state, ...mode, baseline, creditGateClosed, ...paused, ...reconciled };
}

function answeredFacts(
  at: Partial<Record<'partner' | 'hris', number>> | undefined,
  now: number,
): TenantStatus['answeredMs'] {
  return {
    ...(at?.partner === undefined ? {} : { partner: now - at.partner }),
    ...(at?.hris === undefined ? {} : { hris: now - at.hris }),
  };
}

function alarmFacts(alarm: AlarmRow, now: number): TenantStatus['alarms'][number] {
  const { kind, subject, reason, message } = alarm;
  return { kind, subject, reason, message, ageMs: now - Number(alarm.since) };
}

function warningOf(
  setting: KnownTenant['webhooks'] | undefined,
  tenantId: string,
  facts: ReadonlyMap<string, WebhookFacts>,
  now: number,
): { webhookWarning?: string } {
  if (setting !== 'on') return {};
  const { state, message } = judgeWebhooks(tenantId, facts.get(tenantId), now);
  return state === 'ok' ? {} : { webhookWarning: message };
}

function inboxFacts(deliveries: readonly InboxCount[], now: number): TenantStatus['inbox'] {
  const waiting = deliveries.find(({ state }) => state === 'waiting');
  const oldest = waiting === undefined ? {} : { oldestWaitingMs: now - waiting.oldestAt };
  return { counts: countsByState(deliveries), ...oldest };
}

function countsByState<State extends string>(
  rows: readonly { state: State; count: number }[],
): Partial<Record<State, number>> {
  return Object.fromEntries(rows.map(({ state, count }) => [state, count])) as Partial<Record<State, number>>;
}

function holdFacts(hold: HoldRow, now: number): Status['holds'][number] {
  const { hold_id: holdId, tenant_id: tenantId, job_candidate_id: jobCandidateId, code, message } = hold;
  return { holdId, tenantId, jobCandidateId, code, message, ageMs: now - Number(hold.opened_at) };
}

/** The latest run of one stream, and its current quarantine. */
export interface StreamStatus {
  stream: string;
  state: StreamState;
  /** Age of the run's end, or of its last write. */
  ageMs: number;
  counts: { read: number; unchanged: number; created: number; updated: number; skipped: number; held: number };
  /** The number of all records, if the partner gives it. */
  total?: number;
  quarantined: number;
  /** Why the run was refused. */
  refused?: { code: string; message: string };
  /** The person who paused it; it does not run until it is resumed. */
  pausedBy?: string;
  /** Counts of both sides from the latest pass over the whole list, and how long ago it began. */
  coverage?: { partner: number; hris: number; ageMs: number };
  /** How long the oldest hint has waited. */
  hintsWaitMs?: number;
}

/** Streams of these tenants, or of all, by tenant and ordered by name. */
export async function readStreams(
  store: Store,
  now: number,
  tenantIds?: readonly string[],
): Promise<Map<string, StreamStatus[]>> {
  const [runs, left, standing, hinted] = await Promise.all([
    listStreams(store, tenantIds),
    countQuarantined(store, tenantIds),
    listStreamStates(store, tenantIds),
    oldestHints(store),
  ]);
  const partial = new Set(runs.filter(({ state }) => state === 'partial').map((run) => run.tenant_id));
  const refused = await countRefusedPairs(store, [...partial]);
  const standOf = new Map(standing.map((row) => [`${row.tenant_id} ${row.stream}`, row]));
  const hintedAt = new Map(hinted.map((row) => [`${row.tenantId} ${row.stream}`, row.hintedAt]));
  const leftOut = new Map<string, number>();
  for (const { tenantId, stream, count } of [...left, ...refused])
    leftOut.set(`${tenantId} ${stream}`, (leftOut.get(`${tenantId} ${stream}`) ?? 0) + count);
  const byTenant = Map.groupBy(runs, (run) => run.tenant_id);
  const view = (run: StreamRow): StreamStatus => {
    const name = `${run.tenant_id} ${run.stream}`;
    const since = hintedAt.get(name);
    const waits = since === undefined ? {} : { hintsWaitMs: now - since };
    return { ...viewStream(run, leftOut.get(name) ?? 0, now), ...viewStanding(standOf.get(name), now), ...waits };
  };
  return new Map([...byTenant].map(([tenantId, own]) => [tenantId, own.map(view)]));
}

function viewStream(run: StreamRow, quarantined: number, now: number): StreamStatus {
  const { stream, state, seen, unchanged, created, updated, skipped, held, total } = run;
  return {
    stream,
    state,
    ageMs: now - Number(run.ended_at ?? run.updated_at),
    counts: { read: seen, unchanged, created, updated, skipped, held },
    ...(total === null ? {} : { total }),
    quarantined,
    ...(run.refused_code === null ? {} : { refused: { code: run.refused_code, message: run.refused_message ?? '' } }),
  };
}

function viewStanding(standing: Standing | undefined, now: number): Pick<StreamStatus, 'pausedBy' | 'coverage'> {
  if (standing === undefined) return {};
  const { paused_by: by, whole_at: wholeAt, listed, landed } = standing;
  const paused = by === null ? {} : { pausedBy: by };
  if (wholeAt === null) return paused;
  return { ...paused, coverage: { partner: listed ?? 0, hris: landed ?? 0, ageMs: now - Number(wholeAt) } };
}

/** The limits that apply to a tenant's calls: its own, and its HR system's. @throws ConnectorError TENANT_UNKNOWN */
export async function readRateLimits(store: Store, tenantId: string): Promise<RateLimitView[]> {
  const { hris } = await readAppliedTenant(store, tenantId);
  const owners = [tenantId, hrisAccount(hris.connection)];
  return (await Promise.all(owners.map((owner) => viewRateLimits(store, [owner])))).flat();
}

/** One role: the processes that run it, and the last one if none does. */
interface RoleStatus {
  role: Role;
  running: { host: string; version: string; startedAt: string; seenMs: number; trouble?: string }[];
  /** The last process, if none runs. */
  last?: { host: string; version: string; ageMs: number; ended: 'orderly' | 'not' };
  /** The applied tenants need this role. */
  needed: boolean;
}

/** Processes report every ten seconds; one silent for this long does not run. */
const SILENT_MS = 45_000;

/** Processes that run and that should: a worker if there is a tenant, a receiver if a tenant's webhooks are on. */
export async function readProcesses(
  store: Store,
  now: number,
  tenants: readonly { webhooks: 'on' | 'off' }[],
): Promise<RoleStatus[]> {
  const seen = await listProcesses(store, now);
  const needed: Record<Role, boolean> = {
    worker: tenants.length > 0,
    receiver: tenants.some(({ webhooks }) => webhooks === 'on'),
  };
  return (['worker', 'receiver'] as const).map((role) => {
    const own = seen.filter((one) => one.role === role);
    const running = own.filter((one) => one.endedAt === null && now - one.seenAt < SILENT_MS);
    const [last] = own;
    return {
      role,
      running: running.map(({ host, version, startedAt, seenAt, trouble }) => ({
        host,
        version,
        startedAt: new Date(startedAt).toISOString(),
        seenMs: now - seenAt,
        ...(trouble === null ? {} : { trouble }),
      })),
      ...(running.length > 0 || last === undefined ? {} : { last: lastOf(last, now) }),
      needed: needed[role],
    };
  });
}

function lastOf({ host, version, seenAt, endedAt }: SeenProcess, now: number): NonNullable<RoleStatus['last']> {
  return { host, version, ageMs: now - seenAt, ended: endedAt === null ? 'not' : 'orderly' };
}

/** A needed role does no work: no process runs it, or none of those that do can work. */
export function isMissing({ needed, running }: RoleStatus): boolean {
  return needed && running.every(({ trouble }) => trouble !== undefined);
}

const STARTS: Record<Role, string> = { worker: 'hirebridge worker', receiver: 'hirebridge serve' };

/** Describes one role in a line, with the next step if it does no work. */
export function describeRole(status: RoleStatus, age: (ms: number) => string): string {
  const { role, running, last } = status;
  const [first, ...others] = running;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    const inTrouble = running.filter(({ trouble }) => trouble !== undefined);
    const [worst] = inTrouble;
    const which = inTrouble.length === running.length ? 'Nothing is processed' : `${inTrouble.length} can do nothing`;
    const trouble = worst === undefined ? '' : ` ${which} (${worst.host}): ${worst.trouble}`;
    const of = `${first.startedAt} on ${first.host}, version ${first.version}`;
    return `The ${role} has been running since ${of}${more}.${trouble}`;
  }
  if (!isMissing(status)) return `No ${role} runs, and nothing needs one.`;
  const how = last?.ended === 'not' ? 'and it did not shut down cleanly' : 'and was stopped';
  const before =
    last === undefined ? 'none has ever run' : `the last one was seen ${age(last.ageMs)} ago on ${last.host}, ${how}`;
  const meanwhile = role === 'worker' ? 'Hires stand still' : 'Webhooks are lost, and only the reconcile finds hires';
  // A process that cannot write cannot report that it runs.
  const other = last?.ended === 'not' ? ` If it runs, see whether the store takes writes: hirebridge doctor` : '';
  return `No ${role} runs (${before}). ${meanwhile}. Start it: ${STARTS[role]}, or both: hirebridge up.${other}`;
}

/** A fleet at a glance: counts and codes, no personal data. Like `status`, without its long lists. */
export interface Overview {
  /** UTC. */
  at: string;
  processes: Status['processes'];
  freezes: Status['freezes'];
  /** Open holds by code, with those that have waited longest. */
  causes: (Omit<HoldCause, 'oldestAt'> & { oldestMs: number; oldest: Status['holds'] })[];
  alarms: (TenantStatus['alarms'][number] & { tenantId: string })[];
  /** Tenants that need a person first, then by name. */
  tenants: TenantLine[];
}

export interface TenantLine extends TenantFacts {
  isFrozen: boolean;
  hires: Partial<Record<HireState, number>>;
  /** Number of open holds. */
  holds: number;
  alarms: number;
}

const MOST_NAMED = 3;

/** Reads the state of every applied or known tenant, or of some of them; processes only for `known` tenants. */
export async function readOverview(
  store: Store,
  known: readonly KnownTenant[],
  scope?: readonly string[],
): Promise<Overview> {
  const now = await readClock(store);
  const [states, hires, held, counted, alarms, freezes, processes] = await Promise.all([
    listTenantStates(store),
    countHires(store),
    countOpenHolds(store),
    countHoldCauses(store, scope),
    listAlarms(store),
    listFreezes(store),
    known.length === 0 ? [] : readProcesses(store, now, known),
  ]);
  const isShown = (tenantId: string | undefined): boolean =>
    scope === undefined || tenantId === undefined || scope.includes(tenantId);
  const causes = counted.map(async ({ oldestAt, ...cause }) => {
    const rows = await listHolds(store, { tenantIds: scope, code: cause.code, limit: MOST_NAMED });
    return { ...cause, oldestMs: now - oldestAt, oldest: rows.map((row) => holdFacts(row, now)) };
  });
  const rows = new Map(states.map((row) => [row.tenant_id, row]));
  const hiresOf = Map.groupBy(hires, ({ tenantId }) => tenantId);
  const holdsOf = Map.groupBy(held, ({ tenantId }) => tenantId);
  const alarmsOf = Map.groupBy(alarms, (alarm) => alarm.tenant_id);
  const frozen = new Set(freezes.map(({ tenantId }) => tenantId));
  const ids = [...new Set([...known.map(({ tenantId }) => tenantId), ...rows.keys()])].filter(isShown);
  const tenants = ids.map(
    (tenantId): TenantLine => ({
      ...tenantFacts(tenantId, rows.get(tenantId), now),
      isFrozen: frozen.has(undefined) || frozen.has(tenantId),
      hires: Object.fromEntries((hiresOf.get(tenantId) ?? []).map(({ state, count }) => [state, count])),
      holds: (holdsOf.get(tenantId) ?? []).reduce((sum, { count }) => sum + count, 0),
      alarms: alarmsOf.get(tenantId)?.length ?? 0,
    }),
  );
  return {
    at: new Date(now).toISOString(),
    processes,
    freezes: freezes
      .filter(({ tenantId }) => isShown(tenantId))
      .map(({ since, ...freeze }) => ({ ...freeze, ageMs: now - since })),
    causes: await Promise.all(causes),
    alarms: alarms
      .filter((alarm) => isShown(alarm.tenant_id))
      .map((alarm) => ({ tenantId: alarm.tenant_id, ...alarmFacts(alarm, now) })),
    tenants: tenants.sort(neediestFirst),
  };
}

/** Tenants that wait for a person first, removed ones last, each by name. */
function neediestFirst(a: TenantLine, b: TenantLine): number {
  return needOf(b) - needOf(a) || (a.tenantId < b.tenantId ? -1 : 1);
}

function needOf({ state, isFrozen, holds, alarms }: TenantLine): number {
  if (state === 'removed') return -1;
  return (state === 'paused' || isFrozen ? 1_000 : 0) + holds + alarms;
}

/** How long before this time each side of a tenant last answered. */
export async function readAnswered(store: Store, tenantId: string, at: number): Promise<TenantStatus['answeredMs']> {
  return answeredFacts((await listAnswers(store, [tenantId])).get(tenantId), at);
}

/** Figures shown in a tenant's line. */
export interface TenantFigures {
  /** Hires begun in each of the last 24 hours, oldest hour first. */
  begun: number[];
  streams: StreamStatus[];
  rateLimits: RateLimitView[];
  /** How long ago the last webhook was accepted; absent if none is known. */
  webhookMs?: number;
  webhookWarning?: string;
}

/** Figures of the tenants that are shown, at this time by the database's clock. */
export async function readFigures(
  store: Store,
  tenantIds: readonly string[],
  at?: number,
): Promise<Map<string, TenantFigures>> {
  if (tenantIds.length === 0) return new Map();
  const now = at ?? (await readClock(store));
  const [begun, streams, limits, webhooks] = await Promise.all([
    countBegunByHour(store, tenantIds, now),
    readStreams(store, now, tenantIds),
    viewRateLimits(store, tenantIds),
    readWebhookFacts(store, tenantIds),
  ]);
  const limitsOf = Map.groupBy(limits, ({ tenantId }) => tenantId);
  const figuresOf = (id: string): TenantFigures => {
    const { acceptedAt, setting } = webhooks.get(id) ?? {};
    return {
      begun: begun.get(id) ?? [],
      streams: streams.get(id) ?? [],
      rateLimits: limitsOf.get(id) ?? [],
      ...(acceptedAt === undefined ? {} : { webhookMs: now - acceptedAt }),
      ...warningOf(setting, id, webhooks, now),
    };
  };
  return new Map(tenantIds.map((id) => [id, figuresOf(id)]));
}
