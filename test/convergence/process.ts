import type { ActivityDeps, Connection } from '../../activities/connections.ts';
import { exchangePairs } from '../../activities/exchange/exchange-pairs.ts';
import { ownHris } from '../../activities/own-hris.ts';
import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields } from '../../src/hire/hire.ts';
import type { Amendment, HrisConnection, WriteOptions } from '../../src/hris/port.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { OpenTenant } from '../../src/operator/open-tenant.ts';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { ExchangeInput, ExchangeStep } from '../../src/streams/stream-activities.ts';
import type { StreamName } from '../../src/streams/streams.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import type { StoreDouble } from '../simulation/store-double.ts';
import { createCarrier, type Network } from './carrier.ts';

/** Milliseconds. */
export const LIMITS = { giveUpMs: 30_000, partnerLagMs: 1_000, pausedMs: 1_000 };

/** What a process meets on its way: where it may be interrupted, and what becomes of its calls. */
export interface Conditions extends Omit<Network, 'answer' | 'carried'> {
  /** What happens to an update of the HR system. */
  updateMishap: () => 'lost-before' | 'lost-answer' | undefined;
  /** The partner is asked at this address, over a socket, instead of in memory; then nothing happens on the way. */
  partnerAt?: string;
}

/** Every pair, unless it is said otherwise. */
export type Asked = Partial<Pick<ExchangeInput, 'mode' | 'recordId' | 'full'>>;

/** What outlives every process. */
export interface Parts {
  key: string;
  answer: Network['answer'];
  store: StoreDouble;
  hris: HrisConnection;
  tenant: Tenant;
  stream: StreamName;
  mapping: Mapping | undefined;
  /** Values sent to either side so far. */
  writes: { partner: number; hris: number };
}

/** A process of its own: its clients and its view of the store are new, and die with it. */
export function exchange(
  parts: Parts,
  runId: string,
  conditions: Conditions,
  asked: Asked = {},
): Promise<ExchangeStep> {
  const { deps } = openProcess(parts, conditions);
  return exchangePairs(deps, { tenantId: 'acme', stream: parts.stream, runId, full: false, begun: true, ...asked });
}

/** What a process opens before it does anything. */
export function openProcess(parts: Parts, conditions: Conditions): OpenTenant {
  const { answer, hris, writes, tenant, stream } = parts;
  const store = parts.store.connect(conditions.pause);
  const carried: Network['carried'] = (method, path, body) => {
    if (method === 'PATCH') writes.partner += Object.keys(JSON.parse(body) as object).length;
    if (path.endsWith('/custom-field-values/bulk')) writes.partner += (JSON.parse(body) as unknown[]).length;
  };
  const partner = createPartnerClient({
    baseUrl: `${conditions.partnerAt ?? 'http://partner.simulated'}/v1/partner`,
    apiKey: parts.key,
    environment: 'sandbox',
    allowPrivate: true,
    ...(conditions.partnerAt === undefined && { dispatcher: createCarrier({ ...conditions, answer, carried }) }),
  });
  const connection = {
    tenant,
    partner,
    hris: ownHris(tenant.hris.connection, { ...hris, ...recordsUnder(parts, conditions) }),
    mapping: { fields: [], back: [] },
    landings: {},
    exchanges: { [stream]: parts.mapping },
    keyFingerprint: 'one',
  } as unknown as Connection;
  const deps = {
    store,
    log: quiet,
    limits: LIMITS,
    connections: { of: async () => connection, reopenIfRotated: async () => false },
  } as unknown as ActivityDeps;
  return { store, tenant, connection, deps };
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

function lost(action: 'retry' | 'unknown'): ConnectorError {
  return new ConnectorError({ code: 'LOST', action, message: 'The network lost it.' });
}

function recordsUnder(
  { hris, writes }: Parts,
  { pause, updateMishap }: Conditions,
): Pick<HrisConnection, 'employees' | 'requisitions'> {
  const { employees, requisitions } = hris;
  const { amend } = employees;
  const write = async (fields: EmployeeFields, { beforeSend }: WriteOptions, send: () => Promise<void> | undefined) => {
    await pause('hris.update/before');
    const what = updateMishap();
    if (what === 'lost-before') throw lost('retry');
    beforeSend();
    writes.hris += Object.keys(fields).length;
    await send();
    await pause('hris.update/after');
    if (what === 'lost-answer') throw lost('unknown');
  };
  const read = async <T>(found: Promise<T>): Promise<T> => {
    const records = await found;
    await pause('hris.read/after');
    return records;
  };
  const open: HrisConnection['requisitions'] = requisitions && {
    ...requisitions,
    read: (ids, signal) => read(requisitions.read(ids, signal)),
    update: (id, fields, options) => write(fields, options, () => requisitions.update(id, fields, options)),
    amend: (id, change, options) => write(change.fields, options, () => requisitions.amend?.(id, change, options)),
  };
  return {
    employees: {
      ...employees,
      read: (id, signal) => read(employees.read(id, signal)),
      update: (id, fields, options) => write(fields, options, () => employees.update(id, fields, options)),
      // A kind that cannot compare has none.
      ...(amend && {
        amend: (id: string, change: Amendment, options: WriteOptions) =>
          write(change.fields, options, () => amend(id, change, options)),
      }),
    },
    ...(open && { requisitions: open }),
  };
}
