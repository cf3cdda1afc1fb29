import { randomUUID } from 'node:crypto';
import pg from 'pg';

/**
 * Creates a database on this server, empty or as a copy of `template`, which must have no connections; returns its URL.
 * Copies files if the server supports it (15 and later): a tenth of the time of a copy through the log.
 */
export async function newDatabase(serverUrl: string, template = 'template1'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await connected(serverUrl, async (client) => {
    const { rows } = await client.query<{ isNew: boolean }>(
      `select current_setting('server_version_num')::int >= 150000 as "isNew"`,
    );
    const way = rows[0]?.isNew === true ? ' strategy file_copy' : '';
    await client.query(`create database ${name} template ${template}${way}`);
  });
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

async function connected<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

export async function asAdmin(serverUrl: string, statement: string): Promise<void> {
  await rowsOf(serverUrl, statement);
}

export function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1);
}

/** Ends all connections first, because only a database without connections can be copied. */
export async function copyOf(databaseUrl: string): Promise<string> {
  const server = Object.assign(new URL(databaseUrl), { pathname: '/postgres' }).href;
  const name = nameOf(databaseUrl);
  await asAdmin(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  return newDatabase(server, name);
}

/** Runs a statement in a database and returns the rows. */
export function rowsOf(databaseUrl: string, statement: string): Promise<unknown[]> {
  return connected(databaseUrl, async (client) => (await client.query(statement)).rows);
}
