import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { readCursor } from '../change-cursor.ts';
import type { ChangedEmployees, EmployeeRecord } from '../port.ts';
import { listRosters, readRoster } from './people.ts';
import type { RemoteFile } from './session.ts';
import type { Sftp } from './sftp-hris.ts';

/** Employees a page. */
const PAGE = 200;

const rosterFile = z.strictObject({ name: z.string(), size: z.number(), changedAt: z.number() });

/** The roster that was dealt with; within a comparison also the one that follows, and how far it came. */
const cursor = z.strictObject({
  dealtWith: rosterFile.optional(),
  next: rosterFile.extend({ offset: z.int().min(0) }).optional(),
});
type Cursor = z.output<typeof cursor>;

/**
 * One page of the difference between the roster dealt with and the newest. Where one of the two was taken away since,
 * the newest is given whole, and nobody is said to be gone.
 */
export async function changedEmployees(
  hris: Sftp,
  given: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readCursor(cursor, given);
  const files = await listRosters(hris, signal);
  const find = (wanted: RemoteFile | undefined) => files.find((file) => wanted !== undefined && isSame(file, wanted));
  const begun = find(before.next);
  const newest = begun ?? files.at(-1);
  if (newest === undefined) return { employees: [], gone: [], next: JSON.stringify(before), more: false };
  const earlier = find(before.dealtWith);
  const olds = earlier === undefined ? [] : (await readRoster(hris, earlier, signal)).employees;
  const news = (await readRoster(hris, newest, signal)).employees;
  const changed = differing(olds, news);
  const offset = begun === undefined ? 0 : (before.next?.offset ?? 0);
  const reached = offset + PAGE;
  const employees = changed.slice(offset, reached);
  const { name, size, changedAt } = newest;
  if (reached < changed.length) {
    const next: Cursor = { ...before, next: { name, size, changedAt, offset: reached } };
    return { employees, gone: [], next: JSON.stringify(next), more: true };
  }
  const dealtWith: Cursor = { dealtWith: { name, size, changedAt } };
  return { employees, gone: missing(olds, news), next: JSON.stringify(dealtWith), more: false };
}

function differing(olds: readonly EmployeeRecord[], news: readonly EmployeeRecord[]): EmployeeRecord[] {
  const known = byId(olds);
  return news.filter((record) => !isDeepStrictEqual(known.get(record.ref.id), record));
}

function missing(olds: readonly EmployeeRecord[], news: readonly EmployeeRecord[]): string[] {
  const known = byId(news);
  return olds.map(({ ref }) => ref.id).filter((id) => !known.has(id));
}

function byId(records: readonly EmployeeRecord[]): Map<string, EmployeeRecord> {
  return new Map(records.map((record) => [record.ref.id, record]));
}

/** One that was written over under its name is another. */
function isSame(one: RemoteFile, other: RemoteFile): boolean {
  return one.name === other.name && one.size === other.size && one.changedAt === other.changedAt;
}
