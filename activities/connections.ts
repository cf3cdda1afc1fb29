import { createHash } from 'node:crypto';
import { ConnectorError } from '../src/errors.ts';
import { withFailpoints } from '../src/failpoint.ts';
import type { SignalHire } from '../src/hire/hire.ts';
import type { HrisLimits } from '../src/hris/http-line.ts';
import type { HrisConnection } from '../src/hris/port.ts';
import type { Logger } from '../src/log.ts';
import type { Mapping } from '../src/mapping/load-mapping.ts';
import { createPartnerClient, fingerprintOf, type PartnerClient } from '../src/partner/client/create-partner-client.ts';
import type { CallReport, Observation } from '../src/partner/client/types.ts';
import { Overrides } from '../src/partner/contract/assumptions.ts';
import { type LimitedEndpoints, withEndpoints } from '../src/rate-limit/kept-rate-limits.ts';
import type { RateLimitKeeper } from '../src/rate-limit/rate-limit.ts';
import type { SharedRateLimit } from '../src/rate-limit/shared-rate-limit.ts';
import { keepMappingVersion } from '../src/store/mapping-versions.ts';
import type { Store } from '../src/store/open-store.ts';
import { hrisAccount, type Limited } from '../src/store/rate-limits.ts';
import { exchangeNames, landedNames, type PullName, type StreamName } from '../src/streams/streams.ts';
import {
  amendmentMapping,
  destinationTenant,
  loadExchangeMapping,
  loadStreamMapping,
  loadTenantMapping,
  openTenantHris,
  resolveOptions,
} from '../src/tenants/open-hris.ts';
import type { Tenant } from '../src/tenants/schema.ts';
import { resolveSecret, resolveText } from '../src/tenants/secrets.ts';
import { traced } from '../src/trace.ts';
import { cancellation, patient, withinActivity } from './activity-scope.ts';
import { type OwnHris, ownHris } from './own-hris.ts';
import type { LastReconcile } from './reconcile/last-reconcile.ts';

/** A tenant with both of its sides open. */
export interface Connection {
  tenant: Tenant;
  partner: PartnerClient;
  hris: OwnHris;
  mapping: Mapping;
  /** Mapping of each stream that may land in this HRIS. */
  landings: Partial<Record<PullName, Mapping>>;
  /** Mapping of each stream that goes both ways, if the tenant maps it. */
  exchanges: Partial<Record<StreamName, Mapping>>;
  /** How this tenant's partner behaves where the specification is silent. */
  overrides: Overrides;
  /** Identifies the partner key without showing it. */
  keyFingerprint: string;
  /** Further systems that give each hire an account; absent if the tenant names none. */
  destinations?: Destinations;
  /** Log for events that a person should know of. */
  log?: Logger;
  /** The shared rate limit of this partner across all processes. */
  rateLimit?: LimitedEndpoints;
}

/** Further systems of a tenant, each opened when first needed. */
interface Destinations {
  /** The tenant with its nth destination in place of its HR system. */
  of(at: number): Promise<Connection>;
  close(): Promise<void>;
}

export interface Connections {
  /**
   * Opens the tenant on first use and keeps it open; opens it anew within a second after a secret changed. Throws
   * TENANT_UNKNOWN, or the error that prevents opening.
   */
  of(tenantId: string): Promise<Connection>;
  /** Drops the tenant's open connection, so that the next use reads its definition and secrets again. */
  reopen(tenantId: string): Promise<void>;
  /** Like `reopen`, but only if a secret of the open connection has changed; returns whether it has. */
  reopenIfRotated(tenantId: string): Promise<boolean>;
  close(): Promise<void>;
}

interface ConnectionOptions {
  /** Time limit of one partner request, milliseconds. */
  requestMs: number;
  /** Returns the shared rate limit of a tenant at its partner. */
  rateLimitOf: (limited: Limited) => SharedRateLimit;
  log?: Logger;
  onCall?: (tenantId: string, report: CallReport) => void;
  /** Called when a side of the tenant has answered. */
  onAnswered?: (tenantId: string, side: 'partner' | 'hris') => void;
  onObserved?: (tenantId: string, observations: readonly Observation[]) => void;
  /** Awaited just before each write to either side; rejects while the tenant may not write. */
  beforeWrite: (tenantId: string) => Promise<void>;
  /** Throws if another tenant uses the same connection name for another HR system. */
  assertOwnHris: (tenant: Tenant) => void;
  /** Throws while the tenant's HR system is known not to work. */
  assertHrisWorks?: (tenantId: string) => void;
}

/** An open connection, and when its secrets were last compared with their references. */
interface Opened {
  connection: Promise<Connection>;
  secretsHash: string;
  comparedAt: number;
}

const COMPARE_MS = 1_000;
/** A replaced connection stays open this long for activities that still use it; no activity takes longer. */
const LINGER_MS = 120_000;

/** The tenants of this process, each opened when first needed, so that a broken HRIS affects only its own tenant. */
export function createConnections(tenantOf: (tenantId: string) => Tenant, options: ConnectionOptions): Connections {
  const open = new Map<string, Opened>();
  const retired = createRetired();

  function openNew(tenantId: string): Promise<Connection> {
    const tenant = tenantOf(tenantId);
    const opened = { connection: openConnection(tenant, options), secretsHash: '', comparedAt: performance.now() };
    open.set(tenantId, opened);
    opened.connection.catch(() => open.get(tenantId) === opened && open.delete(tenantId));
    // If a secret is missing, opening reports it.
    opened.secretsHash = hashOfSecrets(tenant) ?? '';
    return opened.connection;
  }

  async function of(tenantId: string): Promise<Connection> {
    const opened = open.get(tenantId);
    if (opened !== undefined && performance.now() - opened.comparedAt < COMPARE_MS) return opened.connection;
    await reopenIfRotated(tenantId);
    return open.get(tenantId)?.connection ?? openNew(tenantId);
  }

  async function reopenIfRotated(tenantId: string): Promise<boolean> {
    const opened = open.get(tenantId);
    if (opened === undefined) return false;
    opened.comparedAt = performance.now();
    if (hashOfSecrets(tenantOf(tenantId)) === opened.secretsHash) return false;
    retire(tenantId);
    return true;
  }

  function retire(tenantId: string): void {
    const connection = open.get(tenantId)?.connection;
    open.delete(tenantId);
    if (connection !== undefined) retired.add(connection);
  }

  return {
    of,
    reopen: async (tenantId) => retire(tenantId),
    reopenIfRotated,
    async close() {
      for (const tenantId of open.keys()) retire(tenantId);
      await retired.endAll();
    },
  };
}

/** Connections that are no longer given out but may still be in use. */
function createRetired() {
  const timers = new Map<Promise<Connection>, NodeJS.Timeout>();
  async function end(opened: Promise<Connection>): Promise<void> {
    clearTimeout(timers.get(opened));
    timers.delete(opened);
    const connection = await opened.catch(() => undefined);
    await Promise.allSettled([
      connection?.partner.close(),
      connection?.hris.close(),
      connection?.destinations?.close(),
    ]);
    await connection?.rateLimit?.close();
  }
  return {
    add(connection: Promise<Connection>): void {
      const timer = setTimeout(() => void end(connection), LINGER_MS);
      timer.unref();
      timers.set(connection, timer);
    },
    endAll: async () => void (await Promise.all([...timers.keys()].map(end))),
  };
}

/** Hash of every secret that the tenant's two sides need; undefined if one is missing. */
export function hashOfSecrets({ partner, hris, landing, destinations = [] }: Tenant): string | undefined {
  try {
    const secrets = JSON.stringify([
      resolveSecret(partner.apiKey),
      resolveOptions(hris.options),
      landing && unlessMissing(() => resolveText(landing.url)),
      ...destinations.map(({ options }) => unlessMissing(() => resolveOptions(options))),
    ]);
    return createHash('sha256').update(secrets).digest('hex');
  } catch {
    return undefined;
  }
}

/** Secrets of landing tables and destinations are optional here: a missing one must not stop the tenant. */
function unlessMissing<T>(resolve: () => T): T | undefined {
  try {
    return resolve();
  } catch {
    return undefined;
  }
}

async function openConnection(tenant: Tenant, options: ConnectionOptions): Promise<Connection> {
  const { requestMs, rateLimitOf, log, onCall, onAnswered, onObserved, beforeWrite, assertHrisWorks } = options;
  options.assertOwnHris(tenant);
  const mayWrite = (): Promise<void> => beforeWrite(tenant.tenant);
  const apiKey = resolveSecret(tenant.partner.apiKey);
  const mapping = await loadTenantMapping(tenant);
  const loaded = await Promise.all(landedNames.map(async (name) => [name, await loadStreamMapping(tenant, name)]));
  const landings = Object.fromEntries(loaded.filter(([, own]) => own !== undefined)) as Connection['landings'];
  const exchanges = await loadExchanges(tenant, mapping);
  const overrides = Overrides.parse(tenant.partner.overrides);
  const { share } = tenant.partner.rateLimit ?? {};
  const rateLimit = withEndpoints((upstream) => rateLimitOf({ tenantId: tenant.tenant, upstream, share }));
  const key = createKeyLatch(tenant.tenant);
  const partner = createPartnerClient({
    baseUrl: tenant.partner.baseUrl,
    apiKey,
    environment: tenant.partner.environment,
    overrides,
    allowPrivate: tenant.partner.allowPrivateAddress,
    timeouts: { headersMs: requestMs, bodyMs: requestMs },
    rateLimit: key.guard(patient(rateLimit)),
    cancellation,
    onCall: (report) => {
      key.note(report);
      if (report.status !== undefined) onAnswered?.(tenant.tenant, 'partner');
      onCall?.(tenant.tenant, report);
    },
    onObserved: (observations) => onObserved?.(tenant.tenant, observations),
    around: (operation, run) => outward(tenant.tenant, `partner.${operation}`, run),
    beforeWrite: mayWrite,
  });
  const open = guardHris(await openLimitedHris(tenant, rateLimitOf, patient), {
    tenantId: tenant.tenant,
    word: 'hris',
    mayWrite,
    answered: () => onAnswered?.(tenant.tenant, 'hris'),
    isBeside: tenant.landing !== undefined,
  });
  const inActivity = withinActivity(open, () => assertHrisWorks?.(tenant.tenant));
  const hris = ownHris(tenant.hris.connection, inActivity);
  const keyFingerprint = fingerprintOf(apiKey);
  const told = log === undefined ? {} : { log };
  const ends = { tenant, partner, hris, mapping, landings, exchanges, overrides, keyFingerprint, rateLimit, ...told };
  const { destinations } = tenant;
  return destinations === undefined ? ends : { ...ends, destinations: openDestinations(ends, options) };
}

function openDestinations(ends: Connection, { rateLimitOf, beforeWrite }: ConnectionOptions): Destinations {
  const opened = new Map<number, Promise<Connection>>();
  const { tenant: tenantId } = ends.tenant;
  const open = async (at: number): Promise<Connection> => {
    const tenant = destinationTenant(ends.tenant, at);
    const mapping = await loadTenantMapping(tenant);
    // Destinations get no `describe`: each value is judged when it is written, and a failed description would only add
    // an error.
    const { describe: _describe, ...account } = guardHris(await openLimitedHris(tenant, rateLimitOf, patient), {
      tenantId,
      word: 'account',
      mayWrite: () => beforeWrite(tenantId),
      answered: () => undefined,
      isBeside: true,
    });
    const hris = ownHris(
      tenant.hris.connection,
      withinActivity(account, () => undefined),
    );
    return { ...ends, tenant, hris, mapping, landings: {}, exchanges: {} };
  };
  return {
    of(at) {
      const known = opened.get(at) ?? open(at);
      opened.set(at, known);
      known.catch(() => opened.delete(at));
      return known;
    },
    close: async () =>
      void (await Promise.allSettled([...opened.values()].map(async (one) => (await one).hris.close()))),
  };
}

async function loadExchanges(tenant: Tenant, employee: Mapping): Promise<Connection['exchanges']> {
  const loaded = await Promise.all(exchangeNames.map(async (name) => [name, await loadExchangeMapping(tenant, name)]));
  const exchanges = Object.fromEntries(loaded) as Connection['exchanges'];
  const { every } = tenant.streams.amendments;
  const amendments = every === undefined ? undefined : amendmentMapping(tenant, employee, exchanges.employees);
  const all = Object.entries({ ...exchanges, amendments });
  return Object.fromEntries(all.filter(([, mapping]) => mapping !== undefined)) as Connection['exchanges'];
}

/** Wraps a call to either side in a trace span, with a failpoint before and after it. */
function outward<T>(tenantId: string, name: string, run: () => Promise<T>): Promise<T> {
  return traced(name, { facts: { 'hirebridge.tenant': tenantId } }, () => withFailpoints(name, run));
}

/** Calls that change something in the HRIS. */
const HRIS_WRITES: ReadonlySet<string> = new Set('create update amend rehire terminate deliver land remove'.split(' '));

/**
 * Adds a failpoint to each call of the HRIS, such as `hris.create`, including calls of future capabilities. Each write
 * first asks whether it may go ahead.
 */
function guardHris(hris: HrisConnection, guard: Guard): HrisConnection {
  const { capabilities, close, landing, ...calls } = hris;
  const landed = { ...guard, ...(guard.isBeside && { answered: () => undefined }) };
  return { ...guardCalls(calls, guard), ...(landing && { landing: guardCalls(landing, landed) }), capabilities, close };
}

interface Guard {
  tenantId: string;
  /** Prefix of the call names: `hris` for the HR system, `account` for a destination. */
  word: 'hris' | 'account';
  mayWrite: () => Promise<void>;
  answered: () => void;
  /** Records land in another database, so its answers say nothing about the HR system. */
  isBeside: boolean;
}

function guardCalls<T extends object>(calls: T, guard: Guard): T {
  const members = Object.entries(calls).map(([name, member]: [string, unknown]): [string, unknown] => {
    if (typeof member === 'object' && member !== null) return [name, guardCalls(member, guard)];
    const call = member as (...args: unknown[]) => Promise<unknown>;
    return [
      name,
      async (...args: unknown[]) => {
        if (HRIS_WRITES.has(name)) await guard.mayWrite();
        const given = await outward(guard.tenantId, `${guard.word}.${name}`, () => call(...args));
        // A failed probe returns its failure instead of throwing.
        if ((given as { ok?: boolean } | undefined)?.ok !== false) guard.answered();
        return given;
      },
    ];
  });
  return Object.fromEntries(members) as T;
}

/** Blocks a partner key for good once it was refused. */
interface KeyLatch {
  note(report: CallReport): void;
  /** Wraps the keeper so that it stops giving permits once the key was refused. */
  guard(keeper: RateLimitKeeper): RateLimitKeeper;
}

/**
 * If a key answers 401, one question is enough; not every hire of the tenant must ask. A probe opens a new connection,
 * which has its own latch.
 */
export function createKeyLatch(tenantId: string): KeyLatch {
  let refused = false;
  return {
    note({ status }) {
      if (status === 401) refused = true;
    },
    guard: (keeper) => ({
      answered: (answer) => keeper.answered(answer),
      waitMs: (priority, endpoint) => keeper.waitMs(priority, endpoint),
      perSecond: (endpoint) => keeper.perSecond(endpoint),
      async acquire(priority, signal, endpoint) {
        if (refused) throw keyRefused(tenantId);
        await keeper.acquire(priority, signal, endpoint);
        // The key may have been refused while this call waited.
        if (!refused) return;
        keeper.answered({ sentAt: Date.now(), status: 0, endpoint });
        throw keyRefused(tenantId);
      },
    }),
  };
}

function keyRefused(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'UNAUTHORIZED',
    action: 'reauthorize',
    status: 401,
    message: `The partner refused the key of tenant ${tenantId}. Nothing more is sent with it until a probe passes.`,
  });
}

/**
 * Opens the tenant's HR system under the rate limits of its account, each created at its first call. `asWaited` decides
 * how long a call waits for its permit.
 */
export async function openLimitedHris(
  tenant: Tenant,
  rateLimitOf: (limited: Limited) => SharedRateLimit,
  asWaited: (rateLimit: SharedRateLimit) => RateLimitKeeper,
): Promise<HrisConnection> {
  const tenantId = hrisAccount(tenant.hris.connection);
  const opened = new Map<string, SharedRateLimit>();
  const limits: HrisLimits = (endpoint) => {
    const upstream = endpoint === undefined ? 'hris' : `hris/${endpoint}`;
    const rateLimit = opened.get(upstream) ?? rateLimitOf({ tenantId, upstream });
    opened.set(upstream, rateLimit);
    return asWaited(rateLimit);
  };
  const hris = await openTenantHris(tenant, limits);
  return {
    ...hris,
    async close() {
      await Promise.allSettled([hris.close(), ...[...opened.values()].map((rateLimit) => rateLimit.close())]);
    },
  };
}

/** Everything that activities need from outside; wired in one place. */
export interface ActivityDeps {
  store: Store;
  connections: Connections;
  signalHire: SignalHire;
  /**
   * The tenant's job candidates whose hire has a running workflow; a workflow that started a moment ago may be missing.
   */
  followedHires: (tenantId: string) => Promise<ReadonlySet<string>>;
  lastReconcile: LastReconcile;
  /** Has records of a stream read again soon. Absent in a command: the next pass finds its hires. */
  hintStream?: (stream: { tenantId: string; stream: StreamName }, ids: readonly string[]) => Promise<void>;
  /** Called with the duration of each hire that ended well. Absent in a command. */
  hired?: (ms: number) => void;
  /** Absent in a command, because a command erases nobody. */
  forgetting?: Forgetting;
  /** Folder of the files that this process keeps next to the store. Absent in a command. */
  dataDir?: string;
  log: Logger;
  limits: Limits;
  /** The person who applies a plan; absent if the product works by itself. */
  actor?: { runId: string; by: string };
  /** Tenants whose HR system this process saw fail: calls to it wait until its probe passes. */
  pausedHris: Set<string>;
}

/** Has records of a stream that the tenant runs read again soon. If that fails, its next pass finds them. */
export async function hintRunning(
  { deps, connection: { tenant } }: { deps: ActivityDeps; connection: Connection },
  stream: StreamName,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0 || tenant.streams[stream].every === undefined) return;
  const { tenant: tenantId } = tenant;
  await deps.hintStream?.({ tenantId, stream }, ids).catch((error: unknown) => {
    deps.log.warn({ err: error, tenantId, stream, ids }, 'records are left to the next pass of a stream');
  });
}

/** What Temporal holds and must forget. */
export interface Forgetting {
  /** Ends a hire's workflow and deletes its histories. Returns how many the server still listed. */
  forgetHire: (hire: { tenantId: string; jobCandidateId: string }) => Promise<number>;
  /** Ends a tenant's schedules and workflows and deletes their histories. Returns how many the server still listed. */
  forgetTenant: (tenantId: string) => Promise<number>;
}

/** Limits in milliseconds. */
interface Limits {
  /** Time from an intent until its request must no longer be sent. */
  giveUpMs: number;
  /** How long after that the partner may still take to show a write. */
  partnerLagMs: number;
  /** How long a paused tenant's work sleeps before it asks again. */
  pausedMs: number;
}

/** Mappings whose texts this process has already stored. */
const kept = new WeakSet<Mapping>();

/** Stores the texts of a mapping before its first use here, because everything it makes names its hash. */
export async function keepMapping(
  store: Store,
  tenant: Tenant,
  { subject, mapping }: { subject: 'employee' | StreamName; mapping: Mapping },
): Promise<void> {
  if (kept.has(mapping)) return;
  const file = subject === 'employee' ? tenant.mapping : tenant.streams[subject].mapping;
  const { hash, files } = mapping;
  await keepMappingVersion(store, { tenantId: tenant.tenant, subject, hash, file, files });
  kept.add(mapping);
}
