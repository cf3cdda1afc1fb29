import type { Mapping } from '../src/mapping/load-mapping.ts';
import { keepMappingVersion } from '../src/store/mapping-versions.ts';
import type { Store } from '../src/store/open-store.ts';
import type { StreamName } from '../src/streams/streams.ts';
import type { Tenant } from '../src/tenants/schema.ts';

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
