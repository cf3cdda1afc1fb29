import type { HrisAdapter, StreamName } from '../hris/port.ts';
import { findHrisKind, openHris } from '../hris/registry.ts';
import { loadMapping, type Mapping } from '../mapping/load-mapping.ts';
import type { Tenant } from './schema.ts';
import { isSecretRef, resolveSecret } from './secrets.ts';

/** Opens the tenant's HRIS with its secrets resolved. Close it yourself. */
export async function openTenantHris(tenant: Tenant): Promise<HrisAdapter> {
  return openHris(tenant.hris.kind, tenant.hris.connection, resolveOptions(tenant.hris.options));
}

/** The tenant's compiled mapping, checked at both ends. */
export async function loadTenantMapping(tenant: Tenant): Promise<Mapping> {
  const kind = findHrisKind(tenant.hris.kind);
  const fields = kind ? kind.fields(kind.optionsSchema.parse(tenant.hris.options)) : [];
  return loadMapping({
    kind: tenant.hris.kind,
    fields,
    ...(tenant.mapping === undefined ? {} : { file: tenant.mapping }),
  });
}

/** The tenant's compiled mapping of a stream; undefined where its HRIS has no room for it. */
export async function loadStreamMapping(tenant: Tenant, stream: StreamName): Promise<Mapping | undefined> {
  const kind = findHrisKind(tenant.hris.kind);
  if (kind?.landingFields === undefined) return undefined;
  const fields = kind.landingFields(kind.optionsSchema.parse(tenant.hris.options), stream);
  const file = tenant.streams[stream].mapping;
  return loadMapping({ kind: tenant.hris.kind, of: stream, fields, ...(file === undefined ? {} : { file }) });
}

/** HRIS options with every reference to a secret replaced by the secret. Never log the result. */
export function resolveOptions(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      key,
      typeof value === 'string' && isSecretRef(value) ? resolveSecret(value) : value,
    ]),
  );
}
