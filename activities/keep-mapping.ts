import type { Mapping } from '../src/mapping/load-mapping.ts';
import { keepMappingVersion } from '../src/store/mapping-versions.ts';
import type { Store } from '../src/store/open-store.ts';
import type { StreamName } from '../src/streams/streams.ts';
import type { Tenant } from '../src/tenants/schema.ts';

/** Mappings of this process whose texts are in the store by now. */
const kept = new WeakSet<Mapping>();

/** Keeps the texts of a mapping before its first use here: its hash is named by everything it makes. */
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
