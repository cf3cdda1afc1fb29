import { existsSync } from 'node:fs';
import { chmod, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Copies a database that others write to meanwhile, as it is at one moment. The copy is there whole or not at all, is
 * on the disk when this resolves, and may be read by this user alone.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  const half = `${to}.part`;
  await rm(half, { force: true });
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    database.exec('pragma busy_timeout = 10000');
    database.prepare('vacuum into ?').run(half);
  } finally {
    database.close();
  }
  await chmod(half, 0o600);
  await moveInto(half, to);
}

/** What SQLite finds wrong in a file; undefined where it is a database and sound. */
export function unsoundness(file: string): string | undefined {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const found = Object.values(database.prepare('pragma quick_check(1)').get() ?? {});
      return found[0] === 'ok' ? undefined : String(found[0]);
    } finally {
      database.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether another process has the database open. One that is too damaged to be opened is used by nobody. */
export function isInUse(file: string): boolean {
  try {
    const database = new DatabaseSync(file);
    try {
      // Leaving the write-ahead log takes the file for oneself, and empties the log into it.
      const found = Object.values(database.prepare('pragma journal_mode = delete').get() ?? {});
      return found[0] !== 'delete';
    } finally {
      database.close();
    }
  } catch (error) {
    return /locked|busy/.test(String(error));
  }
}

/** Puts a database in the place of another that nobody uses and that is kept. At any moment one of the two is there. */
export async function replaceSqlite(file: string, by: string, kept: string): Promise<void> {
  if (isInUse(by)) throw new Error(`${by} is in use`);
  // What is left of a log belongs to the database before, also where that is too damaged to be opened.
  for (const end of ['-wal', '-shm']) if (existsSync(`${file}${end}`)) await rename(`${file}${end}`, `${kept}${end}`);
  if (existsSync(file)) await link(file, kept);
  await moveInto(by, file);
}

async function moveInto(half: string, whole: string): Promise<void> {
  const file = await open(half, 'r');
  await file.sync();
  await file.close();
  await rename(half, whole);
  const folder = await open(dirname(whole), 'r');
  await folder.sync();
  await folder.close();
}
