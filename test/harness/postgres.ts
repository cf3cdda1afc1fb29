import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { fromHarness } from './services.ts';

export interface TestDatabase {
  /** `postgres://postgres@127.0.0.1:PORT/NAME`, no password. */
  url: string;
  /** Removes the database, open connections or not. Optional: the whole cluster goes when the run ends. */
  drop(): Promise<void>;
}

/** A new empty database on the run's own Postgres, which starts with the first call of a run (about 2 s). */
export async function createDatabase(): Promise<TestDatabase> {
  const { url } = await fromHarness('postgres');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asAdmin(url, `create database ${name}`);
  return {
    url: Object.assign(new URL(url), { pathname: `/${name}` }).href,
    drop: () => asAdmin(url, `drop database if exists ${name} with (force)`),
  };
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
