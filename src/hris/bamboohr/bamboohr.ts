import { z } from 'zod';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import type { HrisAdapter, HrisConnection } from '../port.ts';
import { openApi } from './api.ts';
import { createEmployee, readEmployee, updateEmployee } from './employees.ts';
import { type Bamboo, findEmployee } from './find.ts';
import { type BambooOptions, bamboohrFields, bamboohrOptions } from './options.ts';

/** BambooHR over its public API; document: `specs/public.yaml` of BambooHR/bhr-api-php (MIT). */
export const bamboohr: HrisAdapter<BambooOptions> = {
  optionsSchema: () => bamboohrOptions,
  secrets: ['apiKey'],
  employeeFields: bamboohrFields,
  open: async (options) => openConnection(options),
};

function openConnection(options: BambooOptions): HrisConnection {
  const bamboo: Bamboo = { api: openApi(options), options };
  return {
    capabilities: { storesReference: options.referenceField !== undefined, readLagMs: options.readLag },
    employees: {
      find: (key, signal) => findEmployee(bamboo, key, signal),
      read: (id, signal) => readEmployee(bamboo, id, signal),
      create: (fields, reference, write) => createEmployee(bamboo, fields, reference, write),
      update: (id, fields, write) => updateEmployee(bamboo, id, fields, write),
    },
    probe: async (signal) => {
      try {
        await probe(bamboo, signal);
        return { ok: true };
      } catch (error) {
        if (isConnectorError(error)) return { ok: false, error };
        throw error;
      }
    },
    close: () => bamboo.api.close(),
  };
}

const Fields = z.array(z.looseObject({ id: z.union([z.string(), z.number()]), alias: z.string().optional() }));

/** The key, and that every field we write is there. Reads no person. */
async function probe({ api, options }: Bamboo, signal: AbortSignal): Promise<void> {
  const call = { what: 'GET meta/fields', method: 'GET', path: '/api/v1/meta/fields', signal } as const;
  const known = new Set(Fields.parse(await api.json(call)).flatMap(({ id, alias }) => [String(id), alias ?? '']));
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
