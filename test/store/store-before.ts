import { readdir } from 'node:fs/promises';
import { type Kysely, type Migration, Migrator } from 'kysely';
import { openDatabase } from '../../src/sql/open-database.ts';
import { freshStoreUrl, type kinds } from './stores.ts';

const FOLDER = new URL('../../src/store/migrations/', import.meta.url);

/** A store as it was before this migration; `fill` writes what an earlier version left there. Gives its address. */
export async function storeBefore(
  kind: (typeof kinds)[number],
  migration: string,
  fill: (db: Kysely<Record<string, Record<string, unknown>>>) => Promise<void>,
): Promise<string> {
  const url = await freshStoreUrl(kind);
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
  return url;
}
