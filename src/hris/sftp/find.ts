import { ConnectorError } from '../../errors.ts';
import type { FindKey, Found } from '../../hire/employee.ts';
import { fitsKey, foundBy } from '../fits-key.ts';
import type { EmployeeRecord } from '../port.ts';
import type { SftpOptions } from './options.ts';
import { type Roster, readPeople } from './people.ts';
import type { Sftp } from './sftp-hris.ts';

/** Looks among everybody known. Every letter is compared here, so an empty answer is as good as the roster is. */
export async function findEmployee(hris: Sftp, key: FindKey, signal: AbortSignal): Promise<Found> {
  const { roster, employees } = await readPeople(hris, signal);
  const refs = employees.filter((record) => fitsKey(record, key)).map(({ ref }) => ref);
  return foundBy(key, refs, proves(hris.options, roster, key));
}

/** Everybody known by their ids: whoever is asked for, the files are the same. */
export async function readEmployees(hris: Sftp, signal: AbortSignal): Promise<Map<string, EmployeeRecord>> {
  return new Map((await readPeople(hris, signal)).employees.map((record) => [record.ref.id, record]));
}

/** @throws ConnectorError EMPLOYEE_NOT_FOUND */
export async function assertKnown(hris: Sftp, id: string, signal: AbortSignal): Promise<void> {
  if ((await readEmployees(hris, signal)).has(id)) return;
  throw new ConnectorError({
    code: 'EMPLOYEE_NOT_FOUND',
    action: 'reject',
    message: `Neither the newest roster nor the results know an employee with the id ${id}.`,
  });
}

const COMPARED: Record<'email' | 'person', readonly string[]> = {
  email: ['email'],
  person: ['birthDate', 'familyName', 'givenName'],
};

/**
 * Whether nobody found means nobody there. Whatever we asked for is known by its request, however old the roster; a
 * second request of the same name cannot be handed over.
 */
function proves(options: SftpOptions, roster: Roster | undefined, { by }: FindKey): boolean {
  if (by === 'reference') return true;
  if (by === 'name') return false;
  if (roster === undefined || roster.ageMs > options.rosterMaxAge) return false;
  const columns =
    by === 'number' ? [options.numberColumn] : COMPARED[by].map((key) => options.columns[key]?.column ?? '');
  return columns.every((column) => roster.columns.includes(column));
}
