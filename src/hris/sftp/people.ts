import pLimit from 'p-limit';
import { type ConnectorError, rejected } from '../../errors.ts';
import type { EmployeeRef } from '../../hire/hire.ts';
import type { EmployeeRecord } from '../port.ts';
import { hasEnded, isDay, refOf } from '../records.ts';
import { assertReadable, type CsvFile, fromCells, type Sftp, unreadable } from './ready-files.ts';
import type { RemoteFile } from './session.ts';

/** A full list of the customer's employees. */
export interface Roster {
  name: string;
  /** Milliseconds since it was written. */
  ageMs: number;
  columns: string[];
  employees: EmployeeRecord[];
}

/** Everybody known: the newest roster, and who was made and is not in it. */
export interface People {
  roster: Roster | undefined;
  employees: EmployeeRecord[];
  /** Of those who are not in the newest roster, when the result that names them was written. */
  unlisted: ReadonlyMap<string, number>;
  /** All rosters, the newest last. */
  rosters: readonly RemoteFile[];
}

export function listRosters({ files, options }: Sftp, signal: AbortSignal): Promise<RemoteFile[]> {
  return files.list(options.folders.rosters, signal);
}

export async function readRoster(hris: Sftp, file: RemoteFile, signal: AbortSignal): Promise<Roster> {
  const { files, options } = hris;
  const { rosters: folder } = options.folders;
  const table = await files.read(folder, file, signal);
  return {
    name: file.name,
    ageMs: Math.max(0, Date.now() - file.changedAt),
    columns: table.columns,
    employees: employeesIn(hris, table, `${folder}/${file.name}`),
  };
}

function employeesIn({ options, today }: Sftp, { columns, rows }: CsvFile, path: string): EmployeeRecord[] {
  // A file cut off in its header would show no employees, as if everybody were gone.
  if (!columns.includes(options.idColumn)) throw unreadable(path, `its header has no ${options.idColumn}`);
  const seen = new Set<string>();
  return rows.map((row, index) => {
    const ref = refIn(options, row);
    if (ref === undefined) throw unreadable(path, `record ${index + 1} has no ${options.idColumn}`);
    if (seen.has(ref.id)) throw unreadable(path, `employee ${ref.id} is in it twice`);
    seen.add(ref.id);
    const reference = row[options.referenceColumn];
    const lastDay = options.endColumn === undefined ? undefined : row[options.endColumn]?.slice(0, 10);
    if (lastDay !== undefined && lastDay !== '' && !isDay(lastDay))
      throw unreadable(path, `record ${index + 1} has a ${options.endColumn} that is not a date such as 2026-03-31`);
    const record = {
      ref,
      ...fromCells(options, row),
      ...(lastDay === undefined ? {} : { former: hasEnded(lastDay, today?.()) }),
    };
    return reference === undefined || reference === '' ? record : { ...record, reference };
  });
}

/** Combines roster and results: results carry our reference, which a roster may lack. */
export async function readPeople(hris: Sftp, signal: AbortSignal): Promise<People> {
  const rosters = await listRosters(hris, signal);
  const newest = rosters.at(-1);
  const roster = newest === undefined ? undefined : await readRoster(hris, newest, signal);
  const made = new Map((await readMade(hris, signal)).map((one) => [one.record.ref.id, one]));
  const listed = (roster?.employees ?? []).map((record) => {
    const reference = record.reference ?? made.get(record.ref.id)?.record.reference;
    made.delete(record.ref.id);
    return reference === undefined ? record : { ...record, reference };
  });
  const unlisted = new Map([...made].map(([id, { saidAt }]) => [id, saidAt]));
  return { roster, employees: [...listed, ...[...made.values()].map(({ record }) => record)], unlisted, rosters };
}

/** A roster may begin before a result and end after it, and two may be written within one second. */
const FIRST_ROSTERS = 3;

/**
 * Those of them who are there still. That the newest roster does not show somebody whom a result names proves nothing:
 * it may be older than they are, and some list people from their first day on. Whom an earlier roster showed, HR has
 * deleted since, or joined with another record. Only the rosters that tell most are read: each may be long.
 */
export async function stillThere(
  hris: Sftp,
  { unlisted, rosters }: Pick<People, 'unlisted' | 'rosters'>,
  employees: readonly EmployeeRecord[],
  signal: AbortSignal,
): Promise<EmployeeRecord[]> {
  const there: EmployeeRecord[] = [];
  for (const employee of employees) {
    const saidAt = unlisted.get(employee.ref.id);
    if (saidAt === undefined || !(await wasListed(hris, employee.ref.id, rosters, saidAt, signal)))
      there.push(employee);
  }
  return there;
}

async function wasListed(
  hris: Sftp,
  id: string,
  rosters: readonly RemoteFile[],
  saidAt: number,
  signal: AbortSignal,
): Promise<boolean> {
  const since = rosters.slice(0, -1).filter(({ changedAt }) => changedAt >= saidAt);
  const telling = new Set([...since.slice(0, FIRST_ROSTERS), ...since.slice(-1)]);
  for (const file of telling)
    if ((await readRoster(hris, file, signal)).employees.some(({ ref }) => ref.id === id)) return true;
  return false;
}

/** Employees that our requests made, by what the results say. */
async function readMade(hris: Sftp, signal: AbortSignal): Promise<{ record: EmployeeRecord; saidAt: number }[]> {
  return (await readResults(hris, signal)).flatMap((result) => {
    const reference = referenceOf(result.requestId);
    if (result.status !== 'created' || reference === undefined) return [];
    const record = { ref: result.ref, ...fromCells(hris.options, result.row), reference };
    return [{ record, saidAt: result.saidAt }];
  });
}

/** What the customer said about one request; `saidAt`: when the file with it was written. */
type Result = { requestId: string; row: Record<string, string>; saidAt: number } & (
  | { status: 'created'; ref: EmployeeRef }
  | { status: 'rejected'; reason: string }
);

/** Files read at once, because each takes several round trips. */
const AT_ONCE = 16;

/** Every result so far, oldest first. Rows with `pending` are not results. */
export async function readResults(hris: Sftp, signal: AbortSignal): Promise<Result[]> {
  const { files, options } = hris;
  const folder = options.folders.results;
  const limit = pLimit(AT_ONCE);
  const finished = await files.list(folder, signal);
  assertReadable(folder, finished);
  const tables = await limit.map(finished, async (file) => ({ file, ...(await files.read(folder, file, signal)) }));
  const results: Result[] = [];
  for (const { file, rows } of tables) {
    for (const [index, row] of rows.entries()) {
      const result = resultOf(hris, row, file.changedAt);
      if (typeof result === 'string') throw unreadable(`${folder}/${file.name}`, `record ${index + 1} ${result}`);
      if (result !== undefined) results.push(result);
    }
  }
  return results;
}

function resultOf({ options }: Sftp, row: Record<string, string>, saidAt: number): Result | string | undefined {
  const { request_id: requestId, status, error = '' } = row;
  if (requestId === undefined || requestId === '') return 'has no request_id';
  if (status === 'pending') return undefined;
  if (status === 'rejected') return { requestId, row, saidAt, status, reason: error };
  if (status !== 'created') return 'has a status other than created, rejected or pending';
  const ref = refIn(options, row);
  return ref === undefined ? `is created but has no ${options.idColumn}` : { requestId, row, saidAt, status, ref };
}

/** The employee that a row is about; undefined if it names none. */
function refIn({ idColumn, numberColumn }: Sftp['options'], row: Record<string, string>): EmployeeRef | undefined {
  const id = row[idColumn];
  return id ? refOf(id, row[numberColumn]) : undefined;
}

/** The final result of one request; if it has two employees, a person must settle that. */
export function verdictOn(results: readonly Result[], requestId: string): Result | undefined {
  const own = results.filter((result) => result.requestId === requestId);
  const made = own.filter((result) => result.status === 'created');
  const refs = made.map(({ ref }) => ref);
  if (new Set(refs.map(({ id }) => id)).size > 1) throw madeTwice(`request ${requestId}`, refs);
  return made.at(-1) ?? own.at(-1);
}

/** Nothing is requested again while the results say this. */
export function madeTwice(what: string, refs: readonly EmployeeRef[]): ConnectorError {
  const ids = [...new Set(refs.map(({ id }) => id))];
  return rejected(
    'CREATED_TWICE',
    `The results say that ${what} made several employees: ${ids.join(', ')}. Correct that in the HR system and in ` +
      'the results.',
  );
}

/** The reference of a request for a new employee; undefined for other requests and other names. */
export function referenceOf(requestId: string): string | undefined {
  const encoded = /^hire-([\w~]+)-\d+$/.exec(requestId)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded.replaceAll('~', '%'));
  } catch {
    return undefined;
  }
}

/** Safe in any file system, and readable: letters, digits and `_` stay as they are. */
export function encode(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const sign = String.fromCharCode(byte);
      return /\w/.test(sign) ? sign : `~${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
