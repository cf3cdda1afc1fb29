import { ConnectorError } from '../../errors.ts';
import type { HrisLimits } from '../http-line.ts';
import type { Employees, HrisAdapter, HrisConnection } from '../port.ts';
import { probed } from '../probed.ts';
import { sameAddress } from '../same-address.ts';
import { amendEmployee } from './amend.ts';
import { openApi } from './api.ts';
import { changedEmployees } from './changes.ts';
import { describeFields, readFields } from './describe.ts';
import { createEmployee, readEmployee, updateEmployee } from './employees.ts';
import { rehireEmployee, terminateEmployee } from './employment.ts';
import { deliverFile } from './files.ts';
import { type Bamboo, findEmployee } from './find.ts';
import { type BambooOptions, bamboohrFields, bamboohrOptions } from './options.ts';
import { webhooks } from './webhook.ts';

/** BambooHR over its public API; document: `specs/public.yaml` of BambooHR/bhr-api-php (MIT). */
export const bamboohr: HrisAdapter<BambooOptions> = {
  optionsSchema: () => bamboohrOptions,
  systemOf: ({ url }) => ({ url: sameAddress(url) }),
  secrets: ['apiKey', 'webhookKeys', 'webhookKey'],
  webhooks,
  employeeFields: bamboohrFields,
  open: async (options, limits) => openConnection(options, limits),
};

function openConnection(options: BambooOptions, limits: HrisLimits): HrisConnection {
  const bamboo: Bamboo = { api: openApi(options, limits), options };
  return {
    capabilities: { storesReference: options.referenceField !== undefined, readLagMs: options.readLag },
    employees: {
      find: (key, signal) => findEmployee(bamboo, key, signal),
      read: (id, signal) => readEmployee(bamboo, id, signal),
      create: (fields, reference, write) => createEmployee(bamboo, fields, reference, write),
      update: (id, fields, write) => updateEmployee(bamboo, id, fields, write),
      amend: (id, amendment, write) => amendEmployee(bamboo, id, amendment, write),
      ...employmentOf(bamboo),
    },
    changes: { since: (cursor, signal) => changedEmployees(bamboo, cursor, signal) },
    ...filesOf(bamboo),
    probe: (signal) => probed(probe(bamboo, signal)),
    describe: async (subject, signal) => (subject === 'employee' ? describeFields(bamboo, signal) : []),
    close: () => bamboo.api.close(),
  };
}

function employmentOf(bamboo: Bamboo): Pick<Employees, 'rehire' | 'terminate'> {
  const { employment } = bamboo.options;
  if (employment === undefined) return {};
  return {
    rehire: (id, fields, write) => rehireEmployee(bamboo, { id, fields, ...employment }, write),
    terminate: (id, lastDay, write) => terminateEmployee(bamboo, { id, lastDay, ...employment }, write),
  };
}

function filesOf(bamboo: Bamboo): Pick<HrisConnection, 'files'> {
  const { fileCategory: category } = bamboo.options;
  if (category === undefined) return {};
  return { files: { deliver: (id, file, write) => deliverFile(bamboo, { id, category }, file, write) } };
}

/** The key, and that every field we write is there. Reads no person. */
async function probe(bamboo: Bamboo, signal: AbortSignal): Promise<void> {
  const { options } = bamboo;
  const known = new Set((await readFields(bamboo, signal)).flatMap(({ id, alias }) => [id, alias ?? '']));
  const written = [options.referenceField, ...Object.values(options.fields).map(({ name }) => name)];
  const missing = written.filter((name) => name !== undefined && !known.has(name));
  if (missing.length === 0) return;
  throw new ConnectorError({
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    message:
      `BambooHR has no field ${missing.join(', ')}, or this key may not see it. Make it there, give the key access, ` +
      'or name the right one under hris.fields and hris.referenceField.',
    details: { fields: missing },
  });
}
