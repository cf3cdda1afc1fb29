import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/sql/open-database.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

interface Counters {
  counters: { name: string; count: number };
}

async function countUp({ kysely }: Database<Counters>, name: string): Promise<void> {
  await kysely.transaction().execute(async (trx) => {
    const { count } = await trx
      .selectFrom('counters')
      .select('count')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    await trx
      .updateTable('counters')
      .set({ count: count + 1 })
      .where('name', '=', name)
      .execute();
  });
}

test('two connections of one process to one file never wait for each other’s transactions', async () => {
  const url = `sqlite:${join(await scratchFolder(), 'shared.db')}`;
  const [one, other] = [openDatabase<Counters>(url), openDatabase<Counters>(url, { relaxed: true })];
  try {
    await one.kysely.schema
      .createTable('counters')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('count', 'integer', (column) => column.notNull())
      .execute();
    await one.kysely.insertInto('counters').values({ name: 'both', count: 0 }).execute();
    // A connection that blocks the thread while the other holds the write lock fails with `database is locked`.
    await Promise.all(Array.from({ length: 200 }, (_, n) => countUp(n % 2 === 0 ? one : other, 'both')));
    expect(await other.kysely.selectFrom('counters').select('count').executeTakeFirst()).toEqual({ count: 200 });
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
});
