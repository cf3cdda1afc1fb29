import { setTimeout as pause } from 'node:timers/promises';
import { patient } from '../../activities/activity-scope.ts';
import {
  type ActivityDeps,
  type Connection,
  createConnections,
  openLimitedHris,
} from '../../activities/connections.ts';
import { fittedMapping } from '../../activities/fields/custom-fields.ts';
import { rememberReconciles } from '../../activities/reconcile/last-reconcile.ts';
import { currentItems } from '../../activities/streams/reading.ts';
import { type Places, readConfig } from '../config.ts';
import { isConnectorError } from '../errors.ts';
import type { HrisConnection } from '../hris/port.ts';
import { createLogger } from '../log.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { createPartnerClient, type PartnerClient } from '../partner/client/create-partner-client.ts';
import { Overrides } from '../partner/contract/assumptions.ts';
import type { RateLimitKeeper } from '../rate-limit/rate-limit.ts';
import { listAppliedTenants } from '../store/applied-tenants.ts';
import { assertMayWrite } from '../store/freezes.ts';
import type { Store } from '../store/open-store.ts';
import { openRateLimit } from '../store/rate-limits.ts';
import { noLanding, type PlanEnds } from '../streams/land-page.ts';
import { assertMoved, firstPageOf, type RecordPage, readPage, readParts } from '../streams/read-page.ts';
import { type PullStream, withKnownTables } from '../streams/stream.ts';
import { landedNames, type PullName, pullStreams } from '../streams/streams.ts';
import type { HireClient } from '../temporal/hire-client.ts';
import { createKnownTenants, type KnownTenants } from '../tenants/known-tenants.ts';
import { parseTenant } from '../tenants/load-tenants.ts';
import { openTenantHris } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { assertPulledStream } from './streams.ts';
import { knownTenant, readOwnTenant } from './tenants.ts';

/** What operator actions work on; the caller opens and closes it. */
export interface OperatorParts {
  store: Store;
  hires: HireClient;
  tenants: readonly { tenantId: string }[];
}

/** A tenant with both sides open, as in a worker: the fleet's shared rate limit, and no write while frozen. */
export interface OpenTenant {
  store: Store;
  tenant: Tenant;
  connection: Connection;
  deps: ActivityDeps;
}

/** The tenant as applied; before its first start, from the folder. @throws ConnectorError TENANT_UNKNOWN */
export async function findTenant(store: Store, dir: string, tenantId: string): Promise<Tenant> {
  const applied = (await listAppliedTenants(store)).filter(({ state }) => state !== 'removed');
  return applied.length === 0 ? readOwnTenant(dir, tenantId) : parseTenant(knownTenant(applied, tenantId));
}

/** Opens both sides of a tenant for one command, and always closes them. */
export async function withTenant<T>(
  { store, places, tenantId }: { store: Store; places: Places; tenantId: string },
  use: (open: OpenTenant) => Promise<T>,
): Promise<T> {
  return withEnds(store, await findTenant(store, places.tenantsDir, tenantId), use);
}

/** The same for a given definition, applied or not. */
export async function withEnds<T>(store: Store, tenant: Tenant, use: (open: OpenTenant) => Promise<T>): Promise<T> {
  const { tenant: tenantId } = tenant;
  const config = readConfig();
  const log = createLogger('command');
  const connections = createConnections(() => tenant, {
    requestMs: config.HIREBRIDGE_REQUEST_MS,
    rateLimitOf: (limited) => openRateLimit(store, limited, log),
    beforeWrite: () => assertMayWrite(store, tenantId),
    assertOwnHris: (await tenantsBeside(store, tenant)).assertOwnHris,
  });
  const deps: ActivityDeps = {
    store,
    connections,
    log,
    signalHire: async () => false,
    followedHires: async () => new Set(),
    lastReconcile: rememberReconciles(async () => undefined),
    pausedHris: new Set(),
    limits: {
      giveUpMs: config.HIREBRIDGE_GIVE_UP_MS,
      partnerLagMs: config.HIREBRIDGE_PARTNER_LAG_MS,
      pausedMs: config.HIREBRIDGE_PAUSED_MS,
    },
  };
  try {
    return await use({ store, tenant, connection: await withOwnTables(store, await connections.of(tenantId)), deps });
  } finally {
    await connections.close();
  }
}

/** Tenants that may share its HR system; reading the files of a whole fleet would take a command seconds. */
async function tenantsBeside(store: Store, { hris }: Tenant): Promise<KnownTenants> {
  const known = createKnownTenants();
  const applied = await listAppliedTenants(store);
  await known.take(applied.filter(({ file, files }) => files[file]?.includes(hris.connection)));
  return known;
}

/** Binds the mappings to their lookup tables as last read. */
async function withOwnTables(store: Store, connection: Connection): Promise<Connection> {
  const bind = (mapping: Mapping): Promise<Mapping> => withKnownTables(store, connection.tenant.tenant, mapping);
  const bindAll = async <Name extends string>(mappings: Partial<Record<Name, Mapping>>) => {
    const bound = Object.entries<Mapping>(mappings as Record<string, Mapping>).map(async ([name, one]) => [
      name,
      await bind(one),
    ]);
    return Object.fromEntries(await Promise.all(bound)) as Partial<Record<Name, Mapping>>;
  };
  const mapping = await bind(connection.mapping);
  return {
    ...connection,
    mapping,
    landings: await bindAll(connection.landings),
    exchanges: await bindAll(connection.exchanges),
  };
}

/** A person waiting for a command is told about a delay that lasts longer than this. */
const THROTTLED_MS = 120_000;

/**
 * Waits and repeats a call that the rate limit or the other side postpones: a command blocks no worker, and nothing
 * else would repeat its call.
 */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  const until = Date.now() + THROTTLED_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isConnectorError(error, 'RATE_LIMIT_WAIT') && !isConnectorError(error, 'RATE_LIMITED')) throw error;
      const wait = error.retryAfterMs ?? 1_000;
      if (error.code === 'RATE_LIMITED' && Date.now() + wait > until) throw error;
      await pause(wait);
    }
  }
}

/**
 * Opens the HR system for a command, under the rate limit that all processes share. Unless the command waits for
 * permits itself, a call with a long wait is refused. Without a store no limit is known. The caller closes it.
 */
export function openHris(
  tenant: Tenant,
  store: Store | undefined,
  asWaited: Parameters<typeof openLimitedHris>[2] = patient,
): Promise<HrisConnection> {
  if (store === undefined) return openTenantHris(tenant);
  const log = createLogger('command');
  return openLimitedHris(tenant, (limited) => openRateLimit(store, limited, log), asWaited);
}

/** How long a person waits for an answer while looking. */
export const CALL_MS = 10_000;

/** Opens the tenant's partner for one command. The caller closes it. @throws ConnectorError SECRET_MISSING */
export function openPartner({ partner }: Pick<Tenant, 'partner'>, rateLimit?: RateLimitKeeper): PartnerClient {
  return createPartnerClient({
    baseUrl: partner.baseUrl,
    apiKey: resolveSecret(partner.apiKey),
    environment: partner.environment,
    overrides: Overrides.parse(partner.overrides),
    allowPrivate: partner.allowPrivateAddress,
    rateLimit,
    timeouts: { headersMs: CALL_MS, bodyMs: CALL_MS },
  });
}

/** The landing and mapping of a stream of this tenant. @throws ConnectorError NO_LANDING */
export function streamEnds({ tenant, hris, landings }: Connection, stream: PullName): PlanEnds {
  const mapping = landings[stream];
  if (hris.landing === undefined || mapping === undefined) throw noLanding(tenant.hris.kind, stream);
  return { landing: hris.landing, mapping, tenant: tenant.tenant, stream };
}

/**
 * The same for what is written: fitted to the HR system's own fields, like a sync's mapping.
 * @throws ConnectorError NO_LANDING, MAPPING_MISFIT
 */
export async function fittedEnds({ connection, deps }: OpenTenant, ends: PlanEnds): Promise<PlanEnds> {
  const { stream, mapping } = ends;
  return { ...ends, mapping: await patiently(() => fittedMapping(deps, connection, stream, mapping)) };
}

type Ends = Pick<PlanEnds, 'stream' | 'mapping'>;

/** Reads the partner's list page by page, with records as it shows them; a consent is shown by a call of its own. */
export function readPages(open: OpenTenant, ends: Ends): AsyncGenerator<RecordPage> {
  return ends.stream === 'consents' ? currentPages(open, ends) : listPages(open, ends.stream);
}

/**
 * The same with the records as a sync maps them.
 * @throws ConnectorError of a custom field that is not the one that the mapping means, as a sync does
 */
export async function* currentPages(open: OpenTenant, ends: Ends): AsyncGenerator<RecordPage> {
  for await (const page of listPages(open, ends.stream)) {
    const { items, leftOut } = await patiently(() => currentItems(open, ends, page.items));
    const unread = leftOut.map(({ key: id, reason }, index) => ({ id, index, reason }));
    yield { ...page, items, unreadable: [...page.unreadable, ...unread] };
  }
}

async function* listPages({ connection: { partner } }: OpenTenant, name: PullName): AsyncGenerator<RecordPage> {
  const stream = await withParts(partner, pullStreams[name]);
  for (const segment of (stream.segments ?? [{}]).keys()) yield* readSegment(partner, stream, segment);
}

async function withParts(partner: Connection['partner'], stream: PullStream): Promise<PullStream> {
  const { parent } = stream;
  return parent === undefined
    ? stream
    : { ...stream, segments: (await patiently(() => readParts(partner, parent))).segments };
}

async function* readSegment(
  partner: Connection['partner'],
  stream: PullStream,
  segment: number,
): AsyncGenerator<RecordPage> {
  let before: string | undefined;
  for (let at = firstPageOf(stream); ; at += 1) {
    const page = await patiently(() => readPage(partner, stream, at, segment));
    if (page === undefined || page.items.length + page.unreadable.length === 0) return;
    const ids = page.items.map((item) => String(item['id'])).join(' ');
    assertMoved(stream, at, ids, before);
    before = ids;
    yield page;
  }
}

/**
 * The named stream; without a name, the landing streams that the tenant schedules.
 * @throws ConnectorError STREAM_UNKNOWN
 */
export function streamsToPlan({ landings, tenant }: Connection, name: string | undefined): PullName[] {
  if (name === undefined)
    return landedNames.filter((one) => landings[one] !== undefined && tenant.streams[one].every !== undefined);
  assertPulledStream(name);
  return [name];
}
