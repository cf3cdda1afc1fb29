import { createHash } from 'node:crypto';
import { type ActivityDeps, hashOfSecrets } from '../../activities/connections.ts';
import { followPrivacy } from '../../activities/erase/by-policy.ts';
import { createErasureRound, createListKeeper } from '../../activities/erase/carry-out.ts';
import { assertKnownCompany, pauseHris, sayRestart } from '../../activities/guarded.ts';
import { createAnswerRound } from '../../activities/hear-answer.ts';
import { isConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { contract } from '../partner/contract/index.ts';
import {
  forgetTrouble,
  leaseNotices,
  markAlarmNotified,
  readDigest,
  recordDigest,
  releaseNotices,
  tenantsToTell,
  unnotifiedAlarms,
} from '../store/alarms.ts';
import { type AppliedTenant, listAppliedTenants } from '../store/applied-tenants.ts';
import { keepAudit } from '../store/audit.ts';
import { purgeEvents, tenantsWithEvents } from '../store/events-out.ts';
import { purgeConflicts } from '../store/field-conflicts.ts';
import { clearHints, readHints } from '../store/hints.ts';
import { closeTenantHolds, markNotified, tenantsHeldLike, unnotifiedHolds } from '../store/holds.ts';
import { STARTS, tenantsToStart } from '../store/observed-hires.ts';
import type { Store } from '../store/open-store.ts';
import { lapseCreating } from '../store/people.ts';
import { tenantsWithCases } from '../store/privacy-cases.ts';
import { createLease, type Lease } from '../store/processes.ts';
import {
  purgeBodies,
  purgeDeliveries,
  purgePlans,
  purgeRemoved,
  purgeWriteLog,
  purgeWrites,
} from '../store/retention.ts';
import { encryptTenant, listDataKeys } from '../store/sealed-values.ts';
import {
  listTenantStates,
  PAUSED_BY_PERSON,
  readTenantState,
  recordVerifiedKey,
  resumeTenant,
} from '../store/tenant-states.ts';
import { lastRetention } from '../tenants/load-tenants.ts';
import type { Tenant } from '../tenants/schema.ts';
import { isSecretRef, resolveSecret } from '../tenants/secrets.ts';
import { within } from '../within.ts';
import {
  againAfterMs,
  alarmNotice,
  createEventSender,
  createPostNotice,
  digestNotice,
  dueDigest,
  holdNotice,
  type Notice,
} from './outgoing.ts';
import { createAlarmRound, KEPT } from './raise-alarms.ts';
import { type Chore, type ChoreResult, type ChoreRunner, createChoreRunner } from './run-chores.ts';

/** Trouble not noted for this long is forgotten: its activity was given up, or its value is not sent any more. */
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/**
 * An HR system that works is checked once in this many rounds: every five minutes. A refused call reveals trouble at
 * once, and the customer's quota of calls is not ours to spend.
 */
const HRIS_EVERY = 20;
/** Alarms are raised and ended once in this many rounds: every minute, because that reads the state of every tenant. */
const ALARMS_EVERY = 4;
/** After this many silent rounds a worker loses the lease on the fleet's chores, and another takes it. */
const LEASE_ROUNDS = 3;
const CLOSE_MS = 3_000;
const LEASE_END_MS = 500;

/**
 * Runs the timed chores that one worker does for all: raises and ends alarms, sends notices of holds and alarms, tries
 * paused tenants again, checks that each HRIS answers, and clears expired data. A tenant's failing chore affects no
 * other tenant. Workers without the lease read which HR systems are down, list who was erased, and wait for it.
 */
export function startChores(
  deps: ActivityDeps,
  tenants: () => readonly Tenant[],
  everyMs: number,
): { close(): Promise<void> } {
  const stop = new AbortController();
  const runner = createChoreRunner({ log: deps.log, everyMs, stop: stop.signal, fingerprintOf });
  const lease = createLease(deps.store, 'chores');
  const round = createRound(deps, { runner, lease, everyMs, stop: stop.signal });
  let rounding: Promise<void> | undefined;
  const tick = (): void => {
    rounding ??= round(tenants())
      .catch((error: unknown) => deps.log.error({ err: error }, 'chores failed'))
      .finally(() => {
        rounding = undefined;
      });
  };
  tick();
  const timer = setInterval(tick, everyMs);
  return {
    async close() {
      clearInterval(timer);
      stop.abort();
      await within(CLOSE_MS, Promise.all([rounding, runner.ended()]));
      await lease.leave(LEASE_END_MS);
    },
  };
}

/** One round: a few queries for all tenants, then the chores of each tenant; without the lease, a single query. */
function createRound(
  deps: ActivityDeps,
  { runner, lease, everyMs, stop }: { runner: ChoreRunner; lease: Lease; everyMs: number; stop: AbortSignal },
): (tenants: readonly Tenant[]) => Promise<void> {
  const { store, log } = deps;
  const raiseAlarms = createAlarmRound(store, log);
  const hearAnswers = createAside(createAnswerRound(deps, stop), log, 'answers are not sent again');
  const erase = createErasureRound(deps);
  const keepList = createListKeeper(deps);
  const notify = createNotifier(deps);
  const sendEvents = createEventSender(deps);
  const checkHris = createHrisCheck(deps);
  const resume: Chore = async ({ tenant }) => ((await resumePaused(deps, tenant)) ? 'done' : 'failed');
  const start: Chore = (tenant, signal) => startRequested(deps, tenant, signal);
  const purge: Chore = async ({ tenant, policies }, signal) => {
    await purgeTenant(store, tenant, policies.retention, signal);
    return 'done';
  };
  const followPolicy: Chore = async ({ tenant }, signal) => {
    await followPrivacy(deps, tenant, signal);
    return 'done';
  };
  // Runs rarely, because it goes through all writes about employees since the beginning.
  const forget: Chore = async ({ tenant, policies }, signal) => {
    await purgeWriteLog(store, tenant, policies.retention.writes, signal);
    return 'done';
  };
  const encrypt: Chore = async ({ tenant }, signal) => {
    const encrypted = await encryptTenant(store, tenant, signal);
    if (encrypted > 0) log.info({ tenantId: tenant, encrypted }, 'values of a tenant encrypted');
    return 'done';
  };
  const purgeLeft = createLeftPurge(deps, stop);
  /** One part that fails, such as at a table that somebody locks, keeps no other part from its turn. */
  const apart = async (work: Promise<unknown>, otherwise: string): Promise<void> => {
    await work.catch((error: unknown) => log.error({ err: error }, otherwise));
  };
  let rounds = 0;
  return async (tenants) => {
    const isOurs = await lease.take(everyMs * LEASE_ROUNDS);
    await followPausedHris(deps);
    await apart(keepList(), 'erasures are not listed on this machine');
    if (!isOurs) return;
    for (const kind of ['activity-failing', 'unknown-value'] as const) await forgetTrouble(store, kind, DAY_MS);
    await forgetTrouble(store, 'hires-unfollowed', HOUR_MS);
    const states = new Map((await listTenantStates(store)).map((row) => [row.tenant_id, row]));
    await apart(purgeBodies(store, KEPT.bodiesMs, stop), 'bodies of webhooks are not cleared yet');
    await apart(purgeDeliveries(store, KEPT.deliveriesMs, stop), 'old webhooks are not cleared yet');
    await apart(purgeEvents(store, KEPT.eventsMs), 'old events are not cleared yet');
    purgeLeft(new Set(tenants.map(({ tenant }) => tenant)));
    if (rounds % ALARMS_EVERY === 0) {
      const known = new Map(tenants.map((tenant) => [tenant.tenant, tenant]));
      await apart(raiseAlarms([...states.values()], known), 'alarms are not compared');
    }
    rounds += 1;
    hearAnswers();
    if (deps.dataDir !== undefined)
      await apart(keepAudit(store, deps.dataDir, log), 'heads of the audit trail are not noted outside the store');
    await apart(erase(), 'erasures are not continued');
    const toTell = await tenantsToTell(store);
    const toStart = await tenantsToStart(store);
    const withCases = await tenantsWithCases(store);
    const withEvents = tenants.some(({ events }) => events !== undefined) ? await tenantsWithEvents(store) : new Set();
    for (const tenant of tenants) {
      const state = states.get(tenant.tenant);
      const digest = dueDigest(tenant.notify, state?.digested_on, new Date());
      if (toTell.has(tenant.tenant) || digest !== undefined) runner.begin('notify', notify, tenant);
      if (withEvents.has(tenant.tenant)) runner.begin('events', sendEvents, tenant);
      if (withCases.has(tenant.tenant)) runner.begin('privacy', followPolicy, tenant);
      if (toStart.has(tenant.tenant)) runner.begin('start', start, tenant);
      runner.begin('purge', purge, tenant, { againMs: HOUR_MS });
      runner.begin('forget writes', forget, tenant, { againMs: DAY_MS });
      if (store.sealing !== undefined) runner.begin('encrypt', encrypt, tenant, { againMs: MINUTE_MS });
      if (state?.state === 'paused') runner.begin('resume', resume, tenant, { isAwaited: true });
      else {
        const againMs = deps.pausedHris.has(tenant.tenant) ? 0 : everyMs * HRIS_EVERY;
        runner.begin('check HRIS', checkHris, tenant, { againMs, isAwaited: true });
      }
    }
  };
}

type Retention = Tenant['policies']['retention'];

async function purgeTenant(store: Store, tenantId: string, { plans }: Retention, signal: AbortSignal): Promise<void> {
  await purgePlans(store, tenantId, plans);
  await purgeWrites(store, tenantId, plans, signal);
  await purgeConflicts(store, tenantId, plans);
  await lapseCreating(store, tenantId);
}

/**
 * Once an hour, purges tenants that no worker serves: removed tenants, and tenants with an unreadable definition. Uses
 * the retention of their last definition. A removed tenant's work has stopped, so all of it counts as over. What stays
 * is encrypted with the latest keys.
 */
function createLeftPurge({ store, log }: ActivityDeps, stop: AbortSignal): (known: ReadonlySet<string>) => void {
  let nextAt = 0;
  const purgeOne = async (applied: AppliedTenant): Promise<void> => {
    const { tenantId, state } = applied;
    const kept = lastRetention(applied);
    await purgeTenant(store, tenantId, kept, stop);
    await purgeWriteLog(store, tenantId, kept.writes, stop);
    const purged = state === 'removed' ? await purgeRemoved(store, tenantId, kept.plans) : 0;
    if (purged > 0) log.info({ tenantId, purged }, 'values of a removed tenant cleared');
    const { sealing } = store;
    // An erased tenant has none, and gets none.
    if (sealing !== undefined && (await listDataKeys(sealing, tenantId)).length > 0)
      await encryptTenant(store, tenantId, stop);
  };
  const purgeAll = async (known: ReadonlySet<string>): Promise<void> => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + HOUR_MS;
    for (const applied of await listAppliedTenants(store)) {
      const { tenantId } = applied;
      if (known.has(tenantId) || stop.aborted) continue;
      await purgeOne(applied).catch((error: unknown) =>
        log.error({ err: error, tenantId }, 'values of a tenant nobody works for are not cleared yet'),
      );
    }
  };
  return createAside(purgeAll, log, 'what is left of removed tenants is not cleared yet');
}

/**
 * Begins a part of a round unless it is still under way. Not awaited: a removed tenant's years of rows, or answers that
 * Temporal does not take, must not delay the other chores.
 */
function createAside<Given extends unknown[]>(
  work: (...given: Given) => Promise<void>,
  log: Logger,
  otherwise: string,
): (...given: Given) => void {
  let isUnderWay = false;
  return (...given) => {
    if (isUnderWay) return;
    isUnderWay = true;
    void work(...given)
      .catch((error: unknown) => log.error({ err: error }, otherwise))
      .finally(() => {
        isUnderWay = false;
      });
  };
}

const PROBE_MS = 10_000;
/** A single late answer proves nothing, nor does a single good one after trouble. */
const BAD_IN_A_ROW = 2;
const GOOD_IN_A_ROW = 3;

/**
 * Checks that a tenant's HRIS answers and fits. Trouble opens one hold of the tenant and stops only its HRIS calls. It
 * begins and ends only after several probes in a row, so that an unstable HRIS does not flap. The first probe after a
 * start or a changed definition decides alone.
 */
export function createHrisCheck(deps: ActivityDeps): Chore {
  /** By tenant: the length of the current row of equal probes; positive if good, negative if bad. */
  const rows = new Map<string, { inARow: number; configHash: string }>();
  const before = ({ tenant, configHash }: Tenant): number | undefined => {
    const known = rows.get(tenant);
    if (known?.configHash !== configHash) return undefined;
    // A call was refused since the last probe, so its result no longer counts.
    return deps.pausedHris.has(tenant) ? Math.min(known.inARow, GOOD_IN_A_ROW - 1) : known.inARow;
  };
  return async (tenant, stop) => {
    const { tenant: tenantId, configHash } = tenant;
    const trouble = await probe(deps.connections, tenantId, stop);
    if (stop.aborted) return 'failed';
    const row = before(tenant) ?? (trouble === undefined ? GOOD_IN_A_ROW - 1 : 1 - BAD_IN_A_ROW);
    const inARow = trouble === undefined ? Math.max(0, row) + 1 : Math.min(0, row) - 1;
    rows.set(tenantId, { inARow, configHash });
    if (inARow === GOOD_IN_A_ROW) await resumeHris(deps, tenantId);
    if (trouble !== undefined && inARow <= -BAD_IN_A_ROW) await pauseHris(deps, tenantId, sayRestart(trouble, tenant));
    if (trouble !== undefined) return 'failed';
    return inARow >= GOOD_IN_A_ROW ? 'done' : 'soon';
  };
}

async function probe(connections: ActivityDeps['connections'], tenantId: string, stop: AbortSignal) {
  try {
    const { hris } = await connections.of(tenantId);
    const result = await hris.probe(AbortSignal.any([stop, AbortSignal.timeout(PROBE_MS)]));
    return result.ok ? undefined : result.error;
  } catch (error) {
    // Trouble at the partner is reported by the tenant's pause.
    return isConnectorError(error) && error.code.startsWith('HRIS_') ? error : undefined;
  }
}

/** Fingerprint of the parts that a person may correct after a failed chore: the tenant's definition and its secrets. */
function fingerprintOf(tenant: Tenant): string {
  const { configHash, notify, events } = tenant;
  const told = [notify?.url, notify?.secret, events?.url, events?.secret].filter((one) => one !== undefined);
  const parts = [configHash, hashOfSecrets(tenant), ...told.map((one) => (isSecretRef(one) ? hashOf(one) : one))];
  return JSON.stringify(parts);
}

function hashOf(reference: string): string {
  try {
    return createHash('sha256').update(resolveSecret(reference)).digest('hex');
  } catch {
    return 'missing';
  }
}

/** Tries a paused tenant's key again, re-read from its reference; resumes the tenant if the known-good read passes. */
export async function resumePaused(deps: ActivityDeps, tenantId: string): Promise<boolean> {
  const { store, connections, log } = deps;
  const { state, paused_code: code } = await readTenantState(store, tenantId);
  if (state !== 'paused' || code === PAUSED_BY_PERSON) return false;
  await connections.reopen(tenantId);
  try {
    const connection = await connections.of(tenantId);
    await connection.partner.readAll(contract.pipelines.list, {}, { priority: 'live' });
    await assertKnownCompany(store, connection);
    await recordVerifiedKey(store, tenantId, connection.keyFingerprint);
  } catch (error) {
    const reason = isConnectorError(error) ? error.code : 'UNEXPECTED';
    log.debug({ tenantId, code: reason }, 'tenant stays paused');
    return false;
  }
  const resumed = await resumeTenant(store, tenantId);
  if (resumed) log.info({ tenantId }, 'tenant resumed');
  return resumed;
}

/** Starts the hires from before go-live that a person asked for. Starting one twice is harmless. */
export async function startRequested(
  { store, signalHire, log }: Pick<ActivityDeps, 'store' | 'signalHire' | 'log'>,
  { tenant: tenantId }: Pick<Tenant, 'tenant'>,
  stop: AbortSignal,
): Promise<ChoreResult> {
  const requested = await readHints(store, tenantId, STARTS);
  for (const hint of requested) {
    if (stop.aborted) return 'failed';
    await signalHire({ tenantId, jobCandidateId: hint.recordId }, 'person', { start: true, adopt: true });
    await clearHints(store, tenantId, STARTS, [hint]);
  }
  if (requested.length > 0) log.info({ tenantId, count: requested.length }, 'requested hires started');
  return 'done';
}

/** Notices of one kind in one round; the next round continues. */
const MOST_IN_A_ROUND = 50;
/** After this long a round begins no further notice: its lease must outlast the last one. */
const ROUND_MS = 40_000;
const LEASE_MS = 60_000;

/**
 * Sends notices of new holds and alarms, and the digest, to a tenant's `notify` address: at least once, by one process
 * at a time, in order until one fails. One that is refused for itself holds up no other; it is tried again with growing
 * waits. A tenant without an address only gets log lines.
 */
export function createNotifier({ store, log }: ActivityDeps): Chore {
  const post = createPostNotice(log);
  const refusals = new Map<string, Refusals>();
  return async (tenant, stop) => {
    if (!(await leaseNotices(store, tenant.tenant, LEASE_MS))) return 'done';
    const until = performance.now() + ROUND_MS;
    const known = refusals.get(tenant.tenant);
    const earlier: Refusals['waits'] = known?.configHash === tenant.configHash ? known.waits : new Map();
    const waits: Refusals['waits'] = new Map();
    refusals.set(tenant.tenant, { configHash: tenant.configHash, waits });
    let [taken, refused] = [0, 0];
    try {
      for (const { notice, mark } of await pendingOf(store, tenant, earlier.size)) {
        const { tries = 0, until: again = 0 } = earlier.get(notice.id) ?? {};
        if (tries > 0) waits.set(notice.id, { tries, until: again });
        if (performance.now() < again) continue;
        if (performance.now() > until) return 'done';
        const answer = await post(tenant, notice, stop);
        if (answer === 'failed') return 'failed';
        waits.delete(notice.id);
        if (answer === 'refused')
          waits.set(notice.id, { tries: tries + 1, until: performance.now() + againAfterMs(tries) });
        else await mark();
        [taken, refused] = answer === 'taken' ? [taken + 1, refused] : [taken, refused + 1];
      }
      return refused > 0 && taken === 0 ? 'failed' : 'done';
    } finally {
      await releaseNotices(store, tenant.tenant);
    }
  };
}

/** Notices of a tenant that were refused for themselves: how often each, and until when it waits. */
interface Refusals {
  /** Another definition may name another address, or another form. */
  configHash: string;
  waits: Map<string, { tries: number; until: number }>;
}

/** Notices, and how to record that each was accepted. `more`: how many besides those of a round, as so many wait. */
async function pendingOf(
  store: Store,
  { tenant: tenantId, notify }: Tenant,
  more: number,
): Promise<{ notice: Notice; mark: () => Promise<void> }[]> {
  const holds = await unnotifiedHolds(store, tenantId, MOST_IN_A_ROUND + more);
  const alarms = await unnotifiedAlarms(store, tenantId, MOST_IN_A_ROUND + more);
  const pending = [
    ...holds.map((hold) => ({ notice: holdNotice(hold), mark: () => markNotified(store, hold.hold_id) })),
    ...alarms.map((alarm) => ({ notice: alarmNotice(alarm), mark: () => markAlarmNotified(store, alarm) })),
  ];
  if (notify?.digest === undefined) return pending;
  // Another process may have sent it while this one waited for the lease.
  const { digested_on: lastDay } = await readTenantState(store, tenantId);
  const due = dueDigest(notify, lastDay, new Date());
  if (due === undefined) return pending;
  const digest = await readDigest(store, tenantId, due.from, due.to);
  return [...pending, { notice: digestNotice(digest, due), mark: () => recordDigest(store, tenantId, due.day) }];
}

/** The HR system works again. */
async function resumeHris({ store, pausedHris }: ActivityDeps, tenantId: string): Promise<void> {
  pausedHris.delete(tenantId);
  await closeTenantHolds(store, tenantId, 'HRIS_%');
}

/** Takes over pauses that another worker found or a person ended. */
async function followPausedHris({ store, pausedHris }: Pick<ActivityDeps, 'store' | 'pausedHris'>): Promise<void> {
  const held = await tenantsHeldLike(store, 'HRIS_%');
  for (const tenantId of pausedHris) if (!held.has(tenantId)) pausedHris.delete(tenantId);
  for (const tenantId of held) pausedHris.add(tenantId);
}
