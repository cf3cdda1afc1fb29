import { type Mapping, shortVersion } from '../mapping/load-mapping.ts';
import { type CaseResult, testMapping } from '../mapping/test-mapping.ts';
import { writeRule } from '../mapping/write-rule.ts';
import { exchangeNames, landedNames, type StreamName } from '../streams/streams.ts';
import { loadTenants } from '../tenants/load-tenants.ts';
import {
  loadExchangeMapping,
  loadRequisitionMapping,
  loadStreamMapping,
  loadTenantMapping,
} from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { assertKnownTenant } from './known-tenant.ts';

/** One mapping of a tenant, each rule with the place it comes from. */
export interface MappingView {
  /** `employee`, or a stream. */
  name: string;
  version: string;
  rules: { field: string; rule: string; sensitive: boolean; file: string; line: number }[];
}

/**
 * What the tenant's mapping files come to, of employees, of every stream that has a place to land, of those that go
 * both ways, and of requisitions where the HR system has some.
 */
export async function readMappings(tenantsDir: string, tenantId: string): Promise<MappingView[]> {
  const tenant = await knownTenant(tenantsDir, tenantId);
  return (await mappingsOf(tenant)).map(({ name, mapping }) => ({
    name,
    version: shortVersion(mapping.hash),
    rules: [...new Set([...mapping.fields, ...mapping.back])].map(({ target, rule, sensitive, at }) => {
      const { file, line } = at;
      return { field: target, rule: writeRule(rule), sensitive, file, line };
    }),
  }));
}

/** Runs the cases beside each mapping file that the tenant names. */
export async function testMappings(tenantsDir: string, tenantId: string): Promise<CaseResult[]> {
  const tenant = await knownTenant(tenantsDir, tenantId);
  const named = (await mappingsOf(tenant)).flatMap(({ file, mapping }) =>
    file === undefined ? [] : [{ file, mapping }],
  );
  const results = await Promise.all(named.map(({ file, mapping }) => testMapping(mapping, file)));
  return results.flatMap((cases) => cases ?? []);
}

async function knownTenant(tenantsDir: string, tenantId: string): Promise<Tenant> {
  const tenants = await loadTenants(tenantsDir, { secrets: 'skip' });
  assertKnownTenant(tenants, tenantId);
  const [tenant] = tenants.filter((one) => one.tenant === tenantId);
  if (tenant === undefined) throw new Error(`${tenantId} was there a moment ago`);
  return tenant;
}

async function mappingsOf(tenant: Tenant): Promise<{ name: string; file: string | undefined; mapping: Mapping }[]> {
  const streams = await Promise.all([
    ...landedNames.map((name) => ofStream(tenant, name, loadStreamMapping(tenant, name))),
    ...exchangeNames.map((name) => ofStream(tenant, name, loadExchangeMapping(tenant, name))),
    ofStream(tenant, 'requisitions', loadRequisitionMapping(tenant)),
  ]);
  const employee = { name: 'employee', file: tenant.mapping, mapping: await loadTenantMapping(tenant) };
  return [employee, ...streams.flat()];
}

async function ofStream({ streams }: Tenant, name: StreamName, loading: Promise<Mapping | undefined>) {
  const mapping = await loading;
  return mapping === undefined ? [] : [{ name, file: streams[name].mapping, mapping }];
}
