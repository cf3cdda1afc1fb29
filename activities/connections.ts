import { ConnectorError } from '../src/errors.ts';
import { withFailpoints } from '../src/failpoint.ts';
import type { HrisConnection } from '../src/hris/port.ts';
import type { Logger } from '../src/log.ts';
import type { Mapping } from '../src/mapping/load-mapping.ts';
import { createPartnerClient, type PartnerClient } from '../src/partner/client/create-partner-client.ts';
import { fingerprintOf } from '../src/partner/client/key-format.ts';
import type { CallReport, Observation } from '../src/partner/client/types.ts';
import { Overrides } from '../src/partner/contract/overrides.ts';
import type { SharedRateLimit } from '../src/rate-limit/shared-rate-limit.ts';
import { type StreamName, streamNames } from '../src/streams/streams.ts';
import { loadStreamMapping, loadTenantMapping, openTenantHris } from '../src/tenants/open-hris.ts';
import type { Tenant } from '../src/tenants/schema.ts';
import { resolveSecret } from '../src/tenants/secrets.ts';
import { cancellation, patient, withinActivity } from './activity-scope.ts';
import { createKeyLatch } from './key-latch.ts';

/** A tenant with its two ends open. */
export interface Connection {
  tenant: Tenant;
  partner: PartnerClient;
  hris: HrisConnection;
  mapping: Mapping;
  /** Of each stream that may land in this HRIS. */
  landings: Partial<Record<StreamName, Mapping>>;
  /** What the specification leaves open, as this tenant's partner has it. */
  overrides: Overrides;
  /** Names the partner key without showing it. */
  keyFingerprint: string;
  /** For what a person should hear of. */
  log?: Logger;
  /** What every process of the fleet may ask of this partner, and when. */
  rateLimit?: SharedRateLimit;
}

export interface Connections {
  /** Opens on first use and keeps open. Throws TENANT_UNKNOWN, or what stands in the way of opening. */
  of(tenantId: string): Promise<Connection>;
  /** Forgets the tenant's open ends, so that the next use reads its secrets again. */
  reopen(tenantId: string): Promise<void>;
  tenants(): readonly Tenant[];
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Bound of one partner request, milliseconds. */
  requestMs: number;
  /** The shared rate limit of a tenant at its partner. */
  rateLimitOf: (tenantId: string) => SharedRateLimit;
  log?: Logger;
  onCall?: (tenantId: string, report: CallReport) => void;
  onObserved?: (tenantId: string, observations: readonly Observation[]) => void;
  /** Awaited directly before each foreign write; rejects while the tenant may not write. */
  beforeWrite: (tenantId: string) => Promise<void>;
  /** Throws while the tenant's HR system is known not to work. */
  assertHrisWorks?: (tenantId: string) => void;
}

/** The tenants of this process, each opened when first needed: one tenant's broken HRIS is no other's trouble. */
export function createConnections(tenants: readonly Tenant[], options: ConnectionOptions): Connections {
  const byId = new Map(tenants.map((tenant) => [tenant.tenant, tenant]));
  const open = new Map<string, Promise<Connection>>();

  function of(tenantId: string): Promise<Connection> {
    const tenant = byId.get(tenantId);
    if (tenant === undefined) return Promise.reject(tenantUnknown(tenantId));
    const known = open.get(tenantId);
    if (known !== undefined) return known;
    const opening = openConnection(tenant, options);
    open.set(tenantId, opening);
    opening.catch(() => open.delete(tenantId));
    return opening;
  }

  async function forget(tenantId: string): Promise<void> {
    const known = open.get(tenantId);
    open.delete(tenantId);
    const connection = await known?.catch(() => undefined);
    await Promise.allSettled([connection?.partner.close(), connection?.hris.close()]);
    await connection?.rateLimit?.close();
  }

  return {
    of,
    reopen: forget,
    tenants: () => tenants,
    close: async () => void (await Promise.all([...open.keys()].map(forget))),
  };
}

async function openConnection(tenant: Tenant, options: ConnectionOptions): Promise<Connection> {
  const { requestMs, rateLimitOf, log, onCall, onObserved, beforeWrite, assertHrisWorks } = options;
  const mayWrite = (): Promise<void> => beforeWrite(tenant.tenant);
  const apiKey = resolveSecret(tenant.partner.apiKey);
  const mapping = await loadTenantMapping(tenant);
  const landings = await loadLandings(tenant);
  const overrides = Overrides.parse(tenant.partner.overrides);
  const rateLimit = rateLimitOf(tenant.tenant);
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
      onCall?.(tenant.tenant, report);
    },
    onObserved: (observations) => onObserved?.(tenant.tenant, observations),
    around: (operation, run) => withFailpoints(`partner.${operation}`, run),
    beforeWrite: mayWrite,
  });
  const open = guardHris(await openTenantHris(tenant), mayWrite);
  const hris = withinActivity(open, () => assertHrisWorks?.(tenant.tenant));
  const keyFingerprint = fingerprintOf(apiKey);
  const told = log === undefined ? {} : { log };
  return { tenant, partner, hris, mapping, landings, overrides, keyFingerprint, rateLimit, ...told };
}

async function loadLandings(tenant: Tenant): Promise<Connection['landings']> {
  const loaded = await Promise.all(streamNames.map(async (name) => [name, await loadStreamMapping(tenant, name)]));
  return Object.fromEntries(loaded.filter(([, mapping]) => mapping !== undefined)) as Connection['landings'];
}

/** Calls that change something in the HRIS. */
const HRIS_WRITES: ReadonlySet<string> = new Set(['create', 'update', 'land']);

/**
 * The connection with its failpoints: each call of the HRIS is one, `hris.create` for instance, those of later
 * capabilities as well. Every write asks first whether it may.
 */
function guardHris(hris: HrisConnection, mayWrite: () => Promise<void>): HrisConnection {
  const { capabilities, close, ...calls } = hris;
  return { ...guardCalls(calls, mayWrite), capabilities, close };
}

function guardCalls<T extends object>(calls: T, mayWrite: () => Promise<void>): T {
  const members = Object.entries(calls).map(([name, member]: [string, unknown]): [string, unknown] => {
    if (typeof member === 'object' && member !== null) return [name, guardCalls(member, mayWrite)];
    const call = member as (...args: unknown[]) => Promise<unknown>;
    return [
      name,
      async (...args: unknown[]) => {
        if (HRIS_WRITES.has(name)) await mayWrite();
        return withFailpoints(`hris.${name}`, () => call(...args));
      },
    ];
  });
  return Object.fromEntries(members) as T;
}

function tenantUnknown(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'retry',
    message:
      `No tenant file names the tenant "${tenantId}". Its work waits until the file is back and the worker is ` +
      'restarted.',
    retryAfterMs: 60_000,
  });
}
