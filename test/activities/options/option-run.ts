import type { ActivityDeps, Connection } from '../../../activities/connections.ts';
import { pushRecords } from '../../../activities/push/push-records.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { openHris } from '../../../src/hris/registry.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { openStore, writeFailpoints } from '../../../src/store/open-store.ts';
import { landings } from '../../../src/streams/streams.ts';
import { pushDeps } from '../push-deps.ts';

export const KEY = { tenantId: 'acme', stream: 'options' } as const;

interface RunFacts {
  storeUrl: string;
  hrUrl: string;
  fieldId: string;
  partner: PartnerClient;
  pass: (point: string) => void;
}

/** Both sides and the store, as the process has them that runs the stream. */
export async function openOptionRun({ storeUrl, hrUrl, fieldId, partner, pass }: RunFacts) {
  const store = await openStore(storeUrl, { relaxed: true, plugins: [writeFailpoints(pass)] });
  const lists = {
    departments: { table: 'departments', activeColumn: 'open' },
    sites: { table: 'sites', activeColumn: 'open' },
  };
  const hris = await openHris('sql', 'acme-hr', { url: hrUrl, lists }, { landings });
  const tenant = {
    tenant: 'acme',
    hris: { kind: 'sql', options: {} },
    streams: { options: {} },
    options: [{ customField: fieldId, list: 'departments' }],
    files: {},
  };
  const connection = { tenant, partner, hris, keyFingerprint: 'one' } as unknown as Connection;
  const close = async (): Promise<void> => {
    await hris.close();
    await store.close();
  };
  const deps = pushDeps(store, connection);
  return { deps, tenant, connection, close };
}

export async function pushOnce(deps: ActivityDeps, runId: string, { full = false } = {}) {
  try {
    return await pushRecords(deps, { ...KEY, runId, full, begun: false });
  } catch (error) {
    if (isConnectorError(error)) throw new Error(`${error.code}: ${error.message}`, { cause: error });
    throw error;
  }
}
