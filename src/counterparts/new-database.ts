import { randomUUID } from 'node:crypto';
import pg from 'pg';

/**
 * A new database on this server, empty or a copy of `template`, to which nobody is connected; gives its URL. Copied by
 * files where the server can be told so (15 and later): a tenth of the time that a copy by its log takes.
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

/** Only a database that nobody is connected to can be copied. */
export async function copyOf(databaseUrl: string): Promise<string> {
  const server = Object.assign(new URL(databaseUrl), { pathname: '/postgres' }).href;
  const name = nameOf(databaseUrl);
  await asAdmin(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  return newDatabase(server, name);
}

/** A statement in a database; the rows. */
export function rowsOf(databaseUrl: string, statement: string): Promise<unknown[]> {
  return connected(databaseUrl, async (client) => (await client.query(statement)).rows);
}
