import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createDatabase } from '../harness/postgres.ts';

/** An HR system's database, and what its own people do in it. */
export interface RawHr {
  url: string;
  /** Runs statements of the customer's own, one after the other. */
  run: (...statements: string[]) => Promise<void>;
  /** One cell as the database itself writes it. */
  cell: (statement: string) => Promise<unknown>;
}

export async function sqliteHr(): Promise<RawHr> {
  const folder = await mkdtemp(path.join(tmpdir(), 'hirebridge-hr-'));
  const file = path.join(folder, 'hr.db');
  const within = async <T>(work: (database: DatabaseSync) => T): Promise<T> => {
    const database = new DatabaseSync(file);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    url: `sqlite:${file}`,
    run: (...statements) => within((database) => statements.forEach((one) => database.exec(one))),
    cell: (statement) =>
      within((database) => {
        const asked = database.prepare(statement);
        asked.setReadBigInts(true);
        return Object.values(asked.get() ?? {})[0];
      }),
  };
}

export async function postgresHr(): Promise<RawHr> {
  const { url } = await createDatabase();
  const within = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  return {
    url,
    run: (...statements) =>
      within(async (client) => {
        for (const one of statements) await client.query(one);
      }),
    cell: (statement) =>
      within(
        async (client) => Object.values((await client.query<Record<string, unknown>>(statement)).rows[0] ?? {})[0],
      ),
  };
}
