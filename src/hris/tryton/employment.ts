import type { EmployeeFields } from '../../hire/employee.ts';
import type { Amendment } from '../fields-to-amend.ts';
import { fieldsToAmend } from '../fields-to-amend.ts';
import type { WriteOptions } from '../port.ts';
import type { Tryton } from './find.ts';
import { readParts, readRow, recordOf } from './read-employee.ts';
import { existingRow, updateEmployee, writeRow } from './write-employee.ts';

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

/** The write names the version that the old values were read in. */
export async function amendEmployee(
  tryton: Tryton,
  id: string,
  amendment: Amendment,
  write: WriteOptions,
): Promise<void> {
  const row = await existingRow(tryton, id, write.signal);
  const held = recordOf(tryton, row, await readParts(tryton, row.party, write.signal)).fields;
  const fields = fieldsToAmend(amendment, held);
  if (Object.keys(fields).length > 0) await writeRow(tryton, row, fields, write);
}
