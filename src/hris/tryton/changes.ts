import { clockOf, nextChangeCursor, readChangeCursor } from '../change-cursor.ts';
import type { ChangedEmployees } from '../port.ts';
import { type EmployeeRow, ENOUGH, readEmployeeRows, type Stamps, type Tryton } from './find.ts';
import { type PartyParts, readPartsOf, recordOf } from './read-employee.ts';
import { encodeInstant } from './rpc-values.ts';

/** A change is stamped when its transaction begins, and seen when it ends: a long import takes minutes. */
const OVERLAP_MS = 300_000;

/** Whose stamps count: the records that an employee is made of. */
const RECORDS = ['', 'party.', 'party.identifiers.', 'party.contact_mechanisms.', 'party.addresses.'];

/** One page of the employees that changed, by id. A record that was deleted leaves no trace in Tryton. */
export async function changedEmployees(
  tryton: Tryton,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ChangedEmployees> {
  const before = readChangeCursor(cursor);
  // Asked first: what changes from here on is the next pass's.
  const clock = await readClock(tryton, signal);
  const after = Number(before.pass?.after ?? 0);
  const domain = [['id', '>', after], ...changedAfter(before.settled)];
  const rows = await readEmployeeRows(tryton, domain, signal);
  const page = rows.slice(0, ENOUGH);
  const partsOf = await readPartsOf(
    tryton,
    page.map(({ party }) => party),
    signal,
  );
  const more = rows.length > ENOUGH;
  const latest = page.reduce((high, row) => laterOf(high, latestStamp(row, partsOf(row.party))), '');
  const reached = more ? String(page.at(-1)?.id) : undefined;
  return {
    employees: page.map((row) => recordOf(tryton, row, partsOf(row.party))),
    gone: [],
    next: nextChangeCursor(before, { after: reached, latest, clock, overlapMs: OVERLAP_MS }),
    more,
  };
}

async function readClock({ session }: Tryton, signal: AbortSignal): Promise<number> {
  const params = [[['id', '=', 0]]];
  const { date } = await session.ask({
    method: 'model.company.employee.search_count',
    params,
    signal,
    priority: 'bulk',
  });
  return clockOf(date);
}

function changedAfter(settled: string | undefined): unknown[] {
  if (settled === undefined) return [];
  const instant = encodeInstant(settled);
  const names = RECORDS.flatMap((record) => [`${record}write_date`, `${record}create_date`]);
  return [['OR', ...names.map((name) => [[name, '>', instant]])]];
}

function latestStamp(row: EmployeeRow, { identifiers, contacts, addresses }: PartyParts): string {
  const records: Stamps[] = [row, row['party.'], ...identifiers, ...contacts, ...addresses];
  return records.flatMap((one) => [one.create_date ?? '', one.write_date ?? '']).reduce(laterOf, '');
}

function laterOf(a: string, b: string): string {
  return a > b ? a : b;
}
