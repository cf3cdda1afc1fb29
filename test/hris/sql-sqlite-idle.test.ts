import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

afterEach(() => vi.useRealTimers());

test('a file that nobody uses is closed, and opened again by the next use; one in use stays open', async () => {
  const file = join(await scratchFolder(), 'hr.db');
  await ensureHrisSchema(`sqlite:${file}`, undefined, landings);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const database = openSqlDatabase(`sqlite:${file}`);
  const count = async () => (await database.kysely.selectFrom('employees').selectAll().execute()).length;
  // SQLite keeps this file beside the database as long as somebody has it open.
  const isOpen = () => existsSync(`${file}-shm`);
  expect(await database.whileUsed(count())).toBe(0);
  const { promise: work, resolve: end } = Promise.withResolvers<void>();
  const using = database.whileUsed(work);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isOpen()).toBe(true);
  end();
  await using;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isOpen()).toBe(false);
  expect(await count()).toBe(0);
  expect(isOpen()).toBe(true);
  await database.close();
});
