import { createHash } from 'node:crypto';
import { hashOfSecrets } from '../../activities/connections.ts';
import type { Tenant } from '../tenants/schema.ts';
import { isSecretRef, resolveSecret } from '../tenants/secrets.ts';

/** Of everything that a person may correct when a tenant's chore fails: its definition and its secrets. */
export function fingerprintOf(tenant: Tenant): string {
  const { configHash, notify, events } = tenant;
  const told = [notify?.url, notify?.secret, events?.url, events?.secret].filter((one) => one !== undefined);
  const parts = [configHash, hashOfSecrets(tenant), ...told.map((one) => (isSecretRef(one) ? hashOf(one) : one))];
  return JSON.stringify(parts);
}

function hashOf(reference: string): string {
  try {
    return createHash('sha256').update(resolveSecret(reference)).digest('hex');
  } catch {
    return 'missing';
  }
}
