import type { Landings } from '../../src/hris/port.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { type SqlOptionsInput, sqlOptions } from '../../src/hris/sql/options.ts';
import { createHrisTables } from '../../src/hris/sql/setup.ts';

/** Creates the demonstration's tables if they are missing. Never for a customer's database. */
export async function ensureHrisSchema(
  url: string,
  options: Omit<SqlOptionsInput, 'url'> = {},
  landings: Landings = {},
): Promise<void> {
  const database = openSqlDatabase(url, { create: true });
  try {
    await database.whileUsed(createHrisTables(database, sqlOptions(landings).parse({ ...options, url })));
  } finally {
    await database.close();
  }
}
