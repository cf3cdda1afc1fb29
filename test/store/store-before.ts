import { readdir } from 'node:fs/promises';
import { type Kysely, type Migration, Migrator } from 'kysely';
import { openDatabase } from '../../src/sql/open-database.ts';

const FOLDER = new URL('../../src/store/migrations/', import.meta.url);

/** Makes the store at this address as it was before a migration; `fill` writes what an earlier version left there. */
export async function storeBefore(
  url: string,
  migration: string,
  fill: (db: Kysely<Record<string, Record<string, unknown>>>) => Promise<void>,
): Promise<void> {
  const { kysely, close } = openDatabase<Record<string, Record<string, unknown>>>(url);
  try {
    const names = (await readdir(FOLDER)).map((file) => file.replace(/\.ts$/, '')).toSorted();
    const earlier = names.filter((name) => name < migration);
    const modules = earlier.map(async (name) => [
      name,
      (await import(new URL(`${name}.ts`, FOLDER).href)) as Migration,
    ]);
    const migrations = Object.fromEntries(await Promise.all(modules)) as Record<string, Migration>;
    const { error } = await new Migrator({
      db: kysely,
      provider: { getMigrations: async () => migrations },
    }).migrateToLatest();
    if (error !== undefined) throw error;
    await fill(kysely);
  } finally {
    await close();
  }
}
