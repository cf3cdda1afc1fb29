import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres, type TestPostgres } from '../../src/counterparts/start-postgres.ts';

/** Durable, unlike the throw-away servers of other tests: what was committed is there after a crash. */
const durable = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_keep_size: '512MB',
  hot_standby: 'on',
};

export async function startDurable(more: Readonly<Record<string, string>> = {}, parent?: string) {
  return startPostgres({ settings: { ...durable, ...more }, ...(parent === undefined ? {} : { parent }) });
}

/** Files that a running server makes and removes on the way, and that a base backup leaves out. */
const PASSING = /xlogtemp|pgsql_tmp|pg_internal\.init|\.tmp$|postmaster\.pid/u;

/** Copies the files of a running server, as one makes a base backup; with its log up to the end of the copy. */
export async function copyCluster(server: TestPostgres, folder: string): Promise<void> {
  await asking(server.url, async (client) => {
    await client.query(`select pg_backup_start('copy', true)`);
    const files = { recursive: true, filter: (from: string) => !PASSING.test(from) };
    await cp(server.cluster, folder, files);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await cp(join(server.cluster, 'pg_wal'), join(folder, 'pg_wal'), files);
    await writeFile(join(folder, 'backup_label'), rows[0]?.labelfile ?? '');
  });
}

/**
 * Copies a running server into a second one that follows it, and has every commit wait for it from now on: whatever the
 * first has said, the second knows.
 */
export async function addStandby(primary: TestPostgres): Promise<TestPostgres> {
  const address = new URL(primary.url);
  const standby = await startPostgres({
    settings: durable,
    async fill(folder) {
      await copyCluster(primary, folder);
      await writeFile(join(folder, 'standby.signal'), '');
      await writeFile(
        join(folder, 'postgresql.auto.conf'),
        `primary_conninfo = 'host=127.0.0.1 port=${address.port} user=postgres application_name=standby'\n`,
      );
    },
  });
  await asking(primary.url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = 'standby'`);
    await client.query('select pg_reload_conf()');
    for (;;) {
      const { rows } = await client.query(`select 1 from pg_stat_replication where sync_state = 'sync'`);
      if (rows.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  return standby;
}

/** The standby writes from now on. */
export async function promote(standby: TestPostgres): Promise<void> {
  await asking(standby.url, (client) => client.query('select pg_promote()'));
}

export async function asking<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
