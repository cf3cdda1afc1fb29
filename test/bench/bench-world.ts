import pg from 'pg';
import { newDatabase } from '../../src/counterparts/new-database.ts';
import { startPostgres } from '../../src/counterparts/start-postgres.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
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

/** A world on Postgres, and a connection to each of its databases. */
export interface PostgresWorld {
  world: World;
  store: pg.Client;
  hris: pg.Client;
}

/** HR system and store in two databases of one Postgres server, which waits for no disk. */
export async function withPostgresWorld<T>(
  options: WorldOptions,
  work: (opened: PostgresWorld) => Promise<T>,
): Promise<T> {
  const server = await startPostgres();
  const [hrisUrl, storeUrl] = [await newDatabase(server.url), await newDatabase(server.url)];
  const world = await startWorld({ startDates: false, ...options, hrisUrl, storeUrl });
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
