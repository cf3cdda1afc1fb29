import type { EmployeeFields } from '../../hire/employee.ts';
import type { WriteOptions } from '../port.ts';
import type { Tryton } from './find.ts';
import { readRow } from './read-employee.ts';
import { updateEmployee } from './write-employee.ts';

/** The same employee without an end date, of a party that is active again. */
export async function rehireEmployee(
  tryton: Tryton,
  id: string,
  fields: EmployeeFields,
  write: WriteOptions,
): Promise<void> {
  const row = await readRow(tryton, id, write.signal);
  if (row?.['party.'].active === false)
    await tryton.session.call({
      method: 'model.party.party.write',
      params: [[row.party], { active: true }],
      ...write,
    });
  await updateEmployee(tryton, id, { endDate: null, ...fields }, write);
}
