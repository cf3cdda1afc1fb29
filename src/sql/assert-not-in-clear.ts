import ipaddr from 'ipaddr.js';
import { ConnectorError } from '../errors.ts';

/** Modes that Postgres takes from the environment and that mean TLS. */
const TLS_BY_ENVIRONMENT = /^(?:prefer|require|verify-ca|verify-full|no-verify)$/;
/** Parameters of an address that decide about TLS. */
const DECISIVE = ['sslmode', 'sslcert', 'sslkey', 'sslrootcert'] as const;

/**
 * Requires `sslmode` in an address on another machine, because sending a password and personal data unencrypted must be
 * an explicit decision.
 * @throws ConnectorError with the given code
 */
export function assertNotInClear(url: string, code: 'DATABASE_URL' | 'HRIS_OPTIONS_INVALID'): void {
  if (!URL.canParse(url)) return;
  const { searchParams: said, hostname, protocol } = new URL(url);
  const host = said.get('host') ?? (hostname === '' ? (process.env['PGHOST'] ?? 'localhost') : unescape(hostname));
  const decided = DECISIVE.some((name) => Boolean(said.get(name))) || /^(?:true|1)$/.test(said.get('ssl') ?? '');
  const byEnvironment = protocol !== 'mariadb:' && TLS_BY_ENVIRONMENT.test(process.env['PGSSLMODE'] ?? '');
  if (isThisMachine(host) || decided || byEnvironment) return;
  throw new ConnectorError({
    code,
    action: 'reject',
    message:
      'The database is on another machine, and its address does not ask for TLS: the password and personal data ' +
      'would travel unencrypted, so nothing was sent. Add sslmode=verify-full to the address (behind ? or &), or ' +
      'sslmode=disable if the network between is trusted.',
  });
}

/** A socket in a folder, or loopback. Other names are not resolved: they may lead elsewhere a moment later. */
function isThisMachine(host: string): boolean {
  if (host.startsWith('/') || host.toLowerCase() === 'localhost') return true;
  const address = host.replaceAll(/^\[|\]$/g, '');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

function unescape(hostname: string): string {
  try {
    return decodeURIComponent(hostname);
  } catch {
    return hostname;
  }
}
