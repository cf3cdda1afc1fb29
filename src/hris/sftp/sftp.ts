import { fieldDefs } from '../columns.ts';
import type { Employees, HrisAdapter, HrisConnection } from '../port.ts';
import { probed } from '../probed.ts';
import { readTogether } from '../read-together.ts';
import { changedEmployees } from './changes.ts';
import { describeColumns } from './describe.ts';
import { deliverFile } from './files.ts';
import { findEmployee, readEmployees } from './find.ts';
import { type SftpOptions, sftpOptions } from './options.ts';
import { probe } from './probe.ts';
import { createReadyFiles } from './ready-files.ts';
import { openSession } from './session.ts';
import type { Sftp } from './sftp-hris.ts';
import { createEmployee, rehireEmployee, resolveRequest, terminateEmployee, updateEmployee } from './write-employee.ts';

/** CSV files over SFTP: requests go out, a job of the customer takes them, and results and rosters come back. */
export const sftp: HrisAdapter<SftpOptions> = {
  optionsSchema: () => sftpOptions,
  // A folder is meant from where its user begins.
  systemOf: ({ host, port, user, folders }) => ({
    host: host.toLowerCase(),
    port,
    user,
    ...Object.fromEntries(Object.entries(folders).map(([name, folder]) => [`folders.${name}`, folder])),
  }),
  secrets: ['privateKey', 'passphrase', 'decryptWith', 'decryptPassphrase'],
  employeeFields: fieldDefs,
  supports: () => ({ files: true, amend: false }),
  open: async (options) => openConnection(options),
};

function openConnection(options: SftpOptions): HrisConnection {
  const session = openSession(options);
  const hris: Sftp = { session, files: createReadyFiles(session, options), options };
  return {
    // A request is there at once, and a second of its name is refused; only changes show late, with the next roster.
    capabilities: { storesReference: true, readLagMs: 0, shownWithinMs: options.rosterMaxAge },
    employees: {
      find: (key, signal) => findEmployee(hris, key, signal),
      read: readTogether((_ids, signal) => readEmployees(hris, signal)),
      create: (fields, reference, write) => createEmployee(hris, fields, reference, write),
      update: (id, fields, write) => updateEmployee(hris, id, fields, write),
      ...endOf(hris),
    },
    files: { deliver: (id, file, write) => deliverFile(hris, id, file, write) },
    changes: { since: (cursor, signal) => changedEmployees(hris, cursor, signal) },
    pending: { resolve: (ticket, signal) => resolveRequest(hris, ticket, signal) },
    describe: (subject, signal) => (subject === 'employee' ? describeColumns(hris, signal) : Promise.resolve([])),
    probe: (signal) => probed(probe(hris, signal)),
    close: () => session.close(),
  };
}

/** Only rosters that name who has left can show what became of such a request. */
function endOf(hris: Sftp): Pick<Employees, 'rehire' | 'terminate'> {
  const { endColumn } = hris.options;
  if (endColumn === undefined) return {};
  return {
    rehire: (id, fields, write) => rehireEmployee(hris, { id, endColumn, fields }, write),
    terminate: (id, lastDay, write) => terminateEmployee(hris, { id, endColumn, lastDay }, write),
  };
}
