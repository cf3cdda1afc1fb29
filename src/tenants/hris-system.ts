import { isConnectorError } from '../errors.ts';
import type { HrisSystem } from '../hris/port.ts';
import { findHrisAdapter } from '../hris/registry.ts';
import { landings } from '../streams/streams.ts';
import type { Tenant } from './schema.ts';
import { isSecretRef, resolveSecret } from './secrets.ts';

/**
 * What identifies a tenant's HR system according to its adapter, with references to secrets resolved. If a secret is
 * not on this machine, its reference is compared instead.
 */
export function hrisSystem({ kind, options }: Tenant['hris']): HrisSystem {
  const adapter = findHrisAdapter(kind, options);
  if (adapter === undefined) return { kind };
  const schema = adapter.optionsSchema(landings);
  const read = Object.entries(options).map(([key, value]) => [key, behind(value)]);
  const parsed = schema.safeParse(Object.fromEntries(read));
  return { kind, ...adapter.systemOf(parsed.success ? parsed.data : schema.parse(options)) };
}

/** Names of the parts in which two HR systems differ, never their values; empty if both are the same system. */
export function differencesOf(one: HrisSystem, other: HrisSystem): string[] {
  if (one['kind'] !== other['kind']) return ['kind'];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((part) => one[part] !== other[part]);
}

/** References among these parts whose secrets are not on this machine. */
export function unreadParts(systems: readonly HrisSystem[], parts: readonly string[]): string[] {
  const values = systems.flatMap((system) => parts.map((part) => system[part]));
  return [...new Set(values.filter((value) => typeof value === 'string' && isSecretRef(value)))] as string[];
}

function behind(value: unknown): unknown {
  if (typeof value !== 'string' || !isSecretRef(value)) return value;
  try {
    return resolveSecret(value);
  } catch (error) {
    if (isConnectorError(error, 'SECRET_MISSING')) return value;
    throw error;
  }
}
