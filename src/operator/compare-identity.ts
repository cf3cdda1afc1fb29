import { isDeepStrictEqual } from 'node:util';
import { employeeIn } from '../hire/employee.ts';
import { employeeOf, latestHire } from '../store/hires.ts';
import { explainRecord } from './explain.ts';
import type { HoldView } from './holds.ts';
import { type OpenTenant, patiently } from './open-tenant.ts';
import { MASK } from './plan-view.ts';

/** A field as the mapping gives it for the person who is hired, and as each employee who may be them has it. */
export interface ComparedField {
  field: string;
  sensitive: boolean;
  /** Personal data; what the mapping calls sensitive is masked unless revealed. */
  hired: unknown;
  /** In the order of the employees; `same` also where the values are masked. */
  held: { value: unknown; same: boolean }[];
}

export interface ComparedRecords {
  employees: { id: string; found: boolean }[];
  fields: ComparedField[];
}

const READ_MS = 30_000;
/** More than these are told apart by a search in the HR system, not by a table. */
const MOST_EMPLOYEES = 5;

/** The employees that a question about a hire names. */
export function employeesAsked({ details }: Pick<HoldView, 'details'>): string[] {
  const named = [details['employeeIds'], details['employeeId']].flat();
  return [...new Set(named.filter((id) => typeof id === 'string'))].slice(0, MOST_EMPLOYEES);
}

/** Reads the person and the employees anew, and puts them beside each other. Writes nothing. */
export async function compareIdentity(
  open: OpenTenant,
  { jobCandidateId, employeeIds }: { jobCandidateId: string; employeeIds: readonly string[] },
  reveal: boolean,
): Promise<ComparedRecords> {
  const explained = await explainRecord(open, jobCandidateId, true);
  const { employees } = open.connection.hris;
  const row = await latestHire(open.store, open.tenant.tenant, jobCandidateId);
  const own = row && employeeOf(row);
  const { connection } = open.tenant.hris;
  // In a former HR system the hire's employee cannot be read, and the id is somebody else's in the present one.
  const isShown = (id: string): boolean => own?.id !== id || own.connection === connection;
  const read = await Promise.all(
    employeeIds.map(async (id) =>
      isShown(id)
        ? patiently(() => employees.read(employeeIn(connection, id), AbortSignal.timeout(READ_MS)))
        : undefined,
    ),
  );
  const masked = (value: unknown, sensitive: boolean): unknown =>
    sensitive && !reveal && value !== undefined && value !== null ? MASK : value;
  return {
    employees: employeeIds.map((id, at) => ({ id, found: read[at] !== undefined })),
    fields: explained.fields.map(({ field, sensitive, value }) => ({
      field,
      sensitive,
      hired: masked(value ?? null, sensitive),
      held: read.map((one) => {
        const held = one?.fields[field] ?? null;
        return { value: masked(held, sensitive), same: isDeepStrictEqual(held, value ?? null) };
      }),
    })),
  };
}
