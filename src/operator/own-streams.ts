import { isConnectorError } from '../errors.ts';
import type { Store } from '../store/open-store.ts';
import { readTenantState } from '../store/tenant-states.ts';
import { type StreamName, streamNames } from '../streams/streams.ts';
import { readAppliedTenant } from './tenants.ts';

const read = new Map<string, { version: number | null; streams: StreamName[] }>();

/** The streams that a tenant's applied file runs by itself: none where this version cannot read it. */
export async function ownStreams(store: Store, tenantId: string): Promise<readonly StreamName[]> {
  const { version } = await readTenantState(store, tenantId);
  const name = `${store.installationId} ${tenantId}`;
  const known = read.get(name);
  if (known !== undefined && known.version === version) return known.streams;
  const tenant = version === null ? undefined : await readAppliedTenant(store, tenantId).catch(ignoreUnreadable);
  const own = tenant === undefined ? [] : streamNames.filter((one) => tenant.streams[one].every !== undefined);
  read.set(name, { version, streams: own });
  return own;
}

function ignoreUnreadable(error: unknown): undefined {
  if (!isConnectorError(error)) throw error;
}
