import { resolve } from 'node:path';
import type { HrisSystem } from '../port.ts';
import type { SqlOptions } from './options.ts';

const USUAL_PORT: Readonly<Record<string, string>> = { 'mariadb:': '3306' };

/** The table in its database: whoever logs in, and by which spelling of the address. */
export function systemOf({ url, table }: SqlOptions): HrisSystem {
  if (url.startsWith('sqlite:')) return { url: `sqlite:${resolve(url.slice('sqlite:'.length))}`, table };
  const address = URL.canParse(url) ? new URL(url) : undefined;
  // A reference whose secret is not here.
  if (address === undefined || !address.pathname.startsWith('/') || /^(?:env|file):/.test(url)) return { url, table };
  const { searchParams: said, username, pathname } = address;
  const path = pathname.slice(1);
  return {
    dialect: address.protocol === 'mariadb:' ? 'mariadb' : 'postgres',
    // Postgres takes these from behind the question mark as well, and goes by them.
    host: (said.get('host') ?? address.hostname).toLowerCase(),
    port: said.get('port') ?? (address.port || (USUAL_PORT[address.protocol] ?? '5432')),
    database: path === '' ? username : path,
    // Where a schema of the database may be named.
    options: said.get('options') ?? '',
    table,
  };
}
