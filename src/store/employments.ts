import { type Employee, employeeIn } from '../hire/hire.ts';
import type { Candidate } from '../person/person.ts';
import { has, hireOf, inTransaction, ofHire, put, type Store } from './open-store.ts';
import { employedRows } from './people.ts';
import { changePerson } from './persons.ts';
import type { HireRow, Row } from './schema.ts';

export interface ConnectionKey {
  tenantId: string;
  connection: string;
}

/** An employee of one of this tenant's hires, and the values last sent to the partner. */
export interface Employment {
  employee: Employee;
  number: string | null;
  /** The hire's person under the partner's current id. */
  candidate: Candidate;
  hire: HireRow;
  told: Row<'employments'> | undefined;
}

/** Of these employees, those linked to hires of the tenant. */
export async function readEmployments(
  store: Store,
  { tenantId, connection }: ConnectionKey,
  employeeIds: readonly string[],
): Promise<Employment[]> {
  if (employeeIds.length === 0) return [];
  const { kysely } = store;
  const links = await kysely
    .selectFrom(employedRows(store).as('employed'))
    .selectAll()
    .where(has({ tenant_id: tenantId, connection }))
    .where('employee_id', 'in', employeeIds)
    .execute();
  if (links.length === 0) return [];
  const ids = links.map((link) => link.job_candidate_id);
  const hires = await kysely
    .selectFrom('hires')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('job_candidate_id', 'in', ids)
    .execute();
  const told = await kysely
    .selectFrom('employments')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('employee_id', 'in', employeeIds)
    .execute();
  return links.flatMap((link) => {
    const hire = hires.find((one) => one.job_candidate_id === link.job_candidate_id && one.period === link.period);
    const employee = employeeIn(link.connection, link.employee_id);
    const last = told.find((one) => one.employee_id === link.employee_id);
    const known = {
      employee,
      number: link.employee_number,
      candidate: { company: link.company, candidateId: link.candidate_id },
    };
    return hire === undefined ? [] : [{ ...known, hire, told: last }];
  });
}

/** Ids of the tenant's linked employees after `after`, in order. */
export async function linkedEmployees(
  { kysely }: Store,
  { tenantId, connection }: ConnectionKey,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await kysely
    .selectFrom(employedRows({ kysely }).as('employed'))
    .select('employee_id')
    .where(has({ tenant_id: tenantId, connection }))
    .where('employee_id', '>', after)
    .orderBy('employee_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.employee_id);
}

/** Records what the partner now holds of an employee; a corrected number is copied to the hire and the link. */
export async function noteTold(
  store: Store,
  { employee, number, candidate, hire }: Employment,
  now: { writtenId: string; status: string; number: string | null },
): Promise<void> {
  const { tenant_id: tenantId } = hire;
  const told = { written_id: now.writtenId, status: now.status, written_at: store.now };
  const row = { tenant_id: tenantId, employee_id: employee.id, ...told };
  await inTransaction(store, async (trx) => {
    const set = ['written_id', 'status', 'written_at'] as const;
    await put(trx, 'employments', [row], { key: ['tenant_id', 'employee_id'], set });
    if (now.number === null || (now.number === number && now.number === hire.employee_number)) return;
    if (now.number !== hire.employee_number)
      await trx.kysely
        .updateTable('hires')
        .set({ employee_number: now.number })
        .where(ofHire(hireOf(hire)))
        .execute();
    const is = { employee, number: now.number };
    const event = { kind: 'link', hire: hireOf(hire), candidate, is, how: 'linked', shownAfterMs: 0 } as const;
    await changePerson(trx, { employee }, event);
  });
}

/** Where to continue among the changed employees; undefined: at the beginning. */
export async function readChangeCursor(
  store: Store,
  { tenantId, connection }: ConnectionKey,
): Promise<{ cursor: string; ageMs: number } | undefined> {
  const row = await store.kysely
    .selectFrom('change_cursors')
    .select(['cursor', 'began_at'])
    .select(store.now.as('now'))
    .where(has({ tenant_id: tenantId, connection }))
    .executeTakeFirst();
  return row === undefined ? undefined : { cursor: row.cursor, ageMs: row.now - row.began_at };
}

/** Call this once the page is handled. `begins`: it was the first page of all. */
export async function saveChangeCursor(
  store: Store,
  { tenantId, connection }: ConnectionKey,
  cursor: string,
  begins: boolean,
): Promise<void> {
  const row = { tenant_id: tenantId, connection, cursor, began_at: store.now };
  const set = begins ? (['cursor', 'began_at'] as const) : (['cursor'] as const);
  await put(store, 'change_cursors', [row], { key: ['tenant_id', 'connection'], set });
}
