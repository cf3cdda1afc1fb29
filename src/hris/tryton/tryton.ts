import { ConnectorError } from '../../errors.ts';
import type { HrisLimits } from '../http-line.ts';
import type { HrisAdapter, HrisConnection } from '../port.ts';
import { probed } from '../probed.ts';
import { readTogether } from '../read-together.ts';
import { sameAddress } from '../same-address.ts';
import { changedEmployees } from './changes.ts';
import { describeFields } from './describe.ts';
import { amendEmployee, rehireEmployee } from './employment.ts';
import { deliverFile } from './files.ts';
import { findEmployee, type Tryton } from './find.ts';
import { type TrytonOptions, trytonFields, trytonOptions } from './options.ts';
import { readEmployees } from './read-employee.ts';
import { openSession } from './session.ts';
import { createEmployee, updateEmployee } from './write-employee.ts';

/** Tryton, an ERP, over its JSON-RPC: an employee is a party, numbered by the server, and a record of the company. */
export const tryton: HrisAdapter<TrytonOptions> = {
  optionsSchema: () => trytonOptions,
  systemOf: ({ url, database, company }) => ({ url: sameAddress(url), database, company }),
  secrets: ['password'],
  employeeFields: trytonFields,
  open: async (options, limits) => openConnection(options, limits),
};

function openConnection(options: TrytonOptions, limits: HrisLimits): HrisConnection {
  const open: Tryton = { session: openSession(options, limits), options };
  return {
    capabilities: { storesReference: true, readLagMs: 0 },
    employees: {
      find: (key, signal) => findEmployee(open, key, signal),
      read: readTogether((ids, signal) => readEmployees(open, ids, signal)),
      create: (fields, reference, write) => createEmployee(open, fields, reference, write),
      update: (id, fields, write) => updateEmployee(open, id, fields, write),
      amend: (id, amendment, write) => amendEmployee(open, id, amendment, write),
      rehire: (id, fields, write) => rehireEmployee(open, id, fields, write),
      terminate: (id, lastDay, write) => updateEmployee(open, id, { endDate: lastDay }, write),
    },
    changes: { since: (cursor, signal) => changedEmployees(open, cursor, signal) },
    files: { deliver: (id, file, write) => deliverFile(open, id, file, write) },
    probe: (signal) => probed(probe(open, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(open, signal) : []),
    close: () => open.session.close(),
  };
}

/** The login, the company, and that employees may be read. Reads no person. */
async function probe({ session, options }: Tryton, signal: AbortSignal): Promise<void> {
  const params = [[['id', '=', options.company]], 0, 1, null, ['id']];
  const companies = await session.call<unknown[]>({ method: 'model.company.company.search_read', params, signal });
  if (companies.length === 0)
    throw new ConnectorError({
      code: 'HRIS_MISCONFIGURED',
      action: 'reject',
      message: `Tryton has no company with the id ${options.company}, or this user may not see it. Check hris.company.`,
    });
  await session.call({ method: 'model.company.employee.search_count', params: [[['id', '=', 0]]], signal });
}
