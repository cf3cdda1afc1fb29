import { sql } from 'kysely';
import { openHris } from '../../src/hris/registry.ts';
import { ensureHrisSchema } from '../../src/hris/sql/ensure-hris-schema.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import type { SqlOptionsInput } from '../../src/hris/sql/options.ts';
import { landings } from '../../src/streams/streams.ts';
import { type HrisUnderTest, sqlProfile } from './profile.ts';

/** The demonstration table in a database of its own, two connections, and a look past every read lag. */
export async function startSqlHris(
  database: { url: string; drop(): Promise<void> },
  options: Omit<SqlOptionsInput, 'url'>,
): Promise<HrisUnderTest> {
  const { url } = database;
  await ensureHrisSchema(url, options, landings);
  const lagging = options.readLag === undefined ? {} : { readFrom: 'employees_directory' };
  const open = () => openHris('sql', 'test-hr', { ...options, ...lagging, url }, landings);
  const [adapter, second] = await Promise.all([open(), open()]);
  return {
    profile: sqlProfile,
    adapter,
    second,
    count: () => countEmployees(url),
    async stop() {
      await Promise.all([adapter.close(), second.close()]);
      await database.drop();
    },
  };
}

/** Employees in the table itself. */
export async function countEmployees(url: string): Promise<number> {
  const direct = openSqlDatabase(url);
  try {
    const { rows } = await sql<{ n: number | string }>`select count(*) as n from employees`.execute(direct.kysely);
    return Number(rows[0]?.n);
  } finally {
    await direct.close();
  }
}
