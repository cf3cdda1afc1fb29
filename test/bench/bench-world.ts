import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { startWorld, type World, type WorldOptions } from '../harness/world.ts';

/** A Temporal server of the bench's own. */
export async function withTemporal<T>(work: (address: string) => Promise<T>): Promise<T> {
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  try {
    return await work(temporal.address);
  } finally {
    await temporal.stop();
  }
}

/** A client of that server. */
export async function withClient<T>(address: string, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  return work(new Client({ connection })).finally(() => connection.close());
}

/** A world on Postgres, and a connection to each of its databases. */
export interface PostgresWorld {
  world: World;
  store: pg.Client;
  hris: pg.Client;
}

/** HR system and store in two databases of one Postgres server, which waits for no disk. `start` makes the world. */
export async function withPostgresWorld<T>(
  options: WorldOptions,
  work: (opened: PostgresWorld) => Promise<T>,
  start: (options: WorldOptions) => Promise<World> = startWorld,
): Promise<T> {
  const server = await startPostgres();
  const [hrisUrl, storeUrl] = [await newDatabase(server.url), await newDatabase(server.url)];
  const world = await start({ startDates: false, ...options, hrisUrl, storeUrl });
  const [store, hris] = [storeUrl, hrisUrl].map((url) => new pg.Client({ connectionString: url })) as [
    pg.Client,
    pg.Client,
  ];
  try {
    await Promise.all([store.connect(), hris.connect()]);
    return await work({ world, store, hris });
  } finally {
    await Promise.all([store.end(), hris.end()]);
    await world.close();
    await server.stop();
  }
}

/** Statements that changed or read the database since it was made, each a transaction unless it is part of one. */
export async function transactionsOf(database: pg.Client): Promise<number> {
  await database.query('select pg_stat_force_next_flush()');
  const { rows } = await database.query<{ n: string }>(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.n);
}
