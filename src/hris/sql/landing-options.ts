import { z } from 'zod';
import type { StreamName } from '../port.ts';
import { columnName, type FieldInput, field } from './field-options.ts';

/** Landing tables as we would make them; a tenant names its own tables and adds columns with `landing`. */
const DEFAULT_FIELDS: Record<StreamName, Record<string, FieldInput>> = {
  jobs: {
    title: { column: 'title', required: true },
    description: { column: 'description' },
    status: { column: 'status' },
    city: { column: 'city' },
    state: { column: 'state' },
    country: { column: 'country' },
    workMode: { column: 'work_mode' },
    salaryFrom: { column: 'salary_from', type: 'number' },
    salaryTo: { column: 'salary_to', type: 'number' },
    salaryCurrency: { column: 'salary_currency' },
    createdAt: { column: 'created_at' },
  },
  candidates: {
    givenName: { column: 'given_name' },
    familyName: { column: 'family_name' },
    email: { column: 'email' },
    phone: { column: 'phone' },
    city: { column: 'city' },
    country: { column: 'country' },
    currentTitle: { column: 'current_title' },
    currentCompany: { column: 'current_company' },
    skills: { column: 'skills', type: 'list' },
    createdAt: { column: 'created_at' },
    updatedAt: { column: 'updated_at' },
  },
};

function landingTable(stream: StreamName) {
  return z
    .strictObject({ table: columnName.default(`partner_${stream}`), fields: z.record(z.string(), field).default({}) })
    .prefault({})
    .transform(({ table, fields }) => ({
      table,
      columns: { ...z.record(z.string(), field).parse(DEFAULT_FIELDS[stream]), ...fields },
    }));
}

/** Where the partner's records land, a table a stream. */
export const landingOptions = z
  .strictObject({ jobs: landingTable('jobs'), candidates: landingTable('candidates') })
  .prefault({});

export type LandingTable = z.output<typeof landingOptions>[StreamName];

/** Whose record it is, its id there, the hash of what was landed, and when: columns every landing table has. */
export const landingKeys = { tenant: 'tenant', id: 'partner_id', hash: 'row_hash', at: 'landed_at' } as const;
