import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { OpenIntent } from '../../src/store/intents.ts';
import { findMappingVersions } from '../../src/store/mapping-versions.ts';
import { latestPlan } from '../../src/store/plans.ts';
import { loadMappingVersion } from '../../src/tenants/open-hris.ts';
import type { HireContext } from './with-hire.ts';

/**
 * The mapping of a hire: the one of its saved plan while a create of that plan may have left, so that every attempt
 * writes the same; otherwise the one in force. What was refused, or applied, is planned anew.
 */
export async function pinnedMapping({ store, connection, ref, creation }: HireContext): Promise<Mapping> {
  const { mapping, tenant } = connection;
  if (!mayHaveLeft(creation)) return mapping;
  const plan = await latestPlan(store, ref);
  if (plan === undefined || plan.mapping_hash === mapping.hash) return mapping;
  const versions = await findMappingVersions(store, ref.tenantId, plan.mapping_hash);
  const version = versions.find(({ subject }) => subject === 'employee');
  const pinned = version === undefined ? undefined : await loadMappingVersion(tenant, version);
  return pinned ?? mapping;
}

function mayHaveLeft(creation: OpenIntent | undefined): boolean {
  return creation?.outcome === 'open' || creation?.outcome === 'absent';
}
