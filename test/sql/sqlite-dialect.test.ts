import { join } from 'node:path';
import { sql } from 'kysely';
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

test('a thousand statements in a row let the event loop turn between them', async () => {
  const database = openDatabase<Counters>(`sqlite:${join(await scratchFolder(), 'row.db')}`);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  try {
    const numbers = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)`;
    const work = sql`${numbers} select sum(i) from n`;
    for (let n = 0; n < 1_000; n += 1) await work.execute(database.kysely);
    expect(turns).toBeGreaterThan(5);
  } finally {
    clearInterval(timer);
    await database.close();
  }
});
