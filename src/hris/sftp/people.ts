import { hasEnded, isDay } from '../has-ended.ts';
import type { EmployeeRecord } from '../port.ts';
import { type CsvFile, unreadable } from './csv.ts';
import { referenceOf } from './request-id.ts';
import { readResults, refIn } from './results.ts';
import type { RemoteFile } from './session.ts';
import type { Sftp } from './sftp-hris.ts';
import { fromCells } from './values.ts';

/** A full list of the customer's employees. */
export interface Roster {
  name: string;
  /** Milliseconds since it was written. */
  ageMs: number;
  columns: string[];
  employees: EmployeeRecord[];
}

/** All known people: the newest roster, and employees made since. */
export interface People {
  roster: Roster | undefined;
  employees: EmployeeRecord[];
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

function employeesIn({ options }: Sftp, { columns, rows }: CsvFile, path: string): EmployeeRecord[] {
  // A file cut off in its header would show no employees, as if everybody were gone.
  if (!columns.includes(options.idColumn)) throw unreadable(path, `its header has no ${options.idColumn}`);
  const seen = new Set<string>();
  return rows.map((row, index) => {
    const ref = refIn(options, row);
    if (ref === undefined) throw unreadable(path, `record ${index + 1} has no ${options.idColumn}`);
    if (seen.has(ref.id)) throw unreadable(path, `employee ${ref.id} stands in it twice`);
    seen.add(ref.id);
    const reference = row[options.referenceColumn];
    const lastDay = options.endColumn === undefined ? undefined : row[options.endColumn]?.slice(0, 10);
    if (lastDay !== undefined && lastDay !== '' && !isDay(lastDay))
      throw unreadable(path, `record ${index + 1} has a ${options.endColumn} that is no date such as 2026-03-31`);
    const record = {
      ref,
      ...fromCells(options, row),
      ...(lastDay === undefined ? {} : { former: hasEnded(lastDay) }),
    };
    return reference === undefined || reference === '' ? record : { ...record, reference };
  });
}

/** Combines roster and results: results carry our reference, which a roster may lack. */
export async function readPeople(hris: Sftp, signal: AbortSignal): Promise<People> {
  const [newest] = (await listRosters(hris, signal)).toReversed();
  const roster = newest === undefined ? undefined : await readRoster(hris, newest, signal);
  const made = new Map((await readMade(hris, signal)).map((record) => [record.ref.id, record]));
  const listed = (roster?.employees ?? []).map((record) => {
    const reference = record.reference ?? made.get(record.ref.id)?.reference;
    made.delete(record.ref.id);
    return reference === undefined ? record : { ...record, reference };
  });
  return { roster, employees: [...listed, ...made.values()] };
}

/** Employees that our requests made, according to the results. */
async function readMade(hris: Sftp, signal: AbortSignal): Promise<EmployeeRecord[]> {
  return (await readResults(hris, signal)).flatMap((result) => {
    const reference = referenceOf(result.requestId);
    if (result.status !== 'created' || reference === undefined) return [];
    return [{ ref: result.ref, ...fromCells(hris.options, result.row), reference }];
  });
}
