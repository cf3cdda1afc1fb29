import { asAdmin, newDatabase } from '../../src/counterparts/start-postgres.ts';
import { fromHarness } from './services.ts';

export interface TestDatabase {
  /** `postgres://postgres@127.0.0.1:PORT/NAME`, no password. */
  url: string;
  /** Removes the database, open connections or not. Optional: the whole cluster goes when the run ends. */
  drop(): Promise<void>;
}

/** A new database on the run's own Postgres, empty or a copy of `template`. The first call of a run takes about 2 s. */
export async function createDatabase({ template }: { template?: string } = {}): Promise<TestDatabase> {
  const server = await fromHarness('postgres');
  const url = await newDatabase(server.url, template);
  const name = new URL(url).pathname.slice(1);
  return { url, drop: () => asAdmin(server.url, `drop database if exists ${name} with (force)`) };
}
