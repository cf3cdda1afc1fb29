import { z } from 'zod';
import { duration } from '../duration.ts';
import type { Landings } from '../port.ts';
import { type FieldInput, field, columnName as name } from './field-options.ts';
import { landingOptions } from './landing-options.ts';
import { requisitionOptions } from './requisition-options.ts';

/** Columns of an employees table as we would write it; a tenant names its own with `fields`. */
const DEFAULT_FIELDS: Record<string, FieldInput> = {
  givenName: { column: 'given_name', label: 'Given name', required: true },
  familyName: { column: 'family_name', label: 'Family name', required: true },
  email: { column: 'email', label: 'Personal e-mail', required: true },
  phone: { column: 'phone', label: 'Phone' },
  title: { column: 'title', label: 'Job title' },
  department: { column: 'department', label: 'Department' },
  location: { column: 'location', label: 'Location' },
  city: { column: 'city', label: 'City' },
  country: { column: 'country', label: 'Country' },
  employmentType: { column: 'employment_type', label: 'Employment type' },
  startDate: { column: 'start_date', label: 'Start date', type: 'date', required: true },
  birthDate: { column: 'birth_date', label: 'Birth date', type: 'date' },
};

/** Made once: a schema costs more than what it checks, and a thousand tenants are checked with the same. */
const schemas = new WeakMap<Landings, ReturnType<typeof makeSchema>>();

/**
 * What stands beside `kind: sql` and `connection` in a tenant file. `url` may be a reference to a secret until the
 * connection opens.
 */
export function sqlOptions(landings: Landings): ReturnType<typeof makeSchema> {
  const known = schemas.get(landings) ?? makeSchema(landings);
  schemas.set(landings, known);
  return known;
}

function makeSchema(landings: Landings) {
  const defaults = z.record(z.string(), field).parse(DEFAULT_FIELDS);
  return z
    .strictObject({
      url: z
        .string('expected sqlite:PATH, postgres://..., env:NAME or file:PATH')
        .regex(
          /^(?:sqlite:.+|postgres(?:ql)?:\/\/.+|env:\w+|file:.+)$/,
          'expected sqlite:PATH, postgres://..., env:NAME or file:PATH',
        ),
      table: name.default('employees'),
      /** Table or view that reads go to; a replica's or a reporting view's delay is `readLag`. */
      readFrom: name.optional(),
      idColumn: name.default('id'),
      numberColumn: name.default('employee_number'),
      /** Column that holds our reference, best with a unique index; `none` where the table has no room for it. */
      referenceColumn: name.default('external_ref'),
      readLag: duration.default(0),
      /** Column with the last day of employment; empty while it goes on. */
      endColumn: name.optional(),
      /** How employees that changed are found. */
      changes: z
        .strictObject({
          /** A time, or a number from a sequence, that every change of a row sets; without one a row is not seen. */
          column: name,
          /** A change may be committed so long after its time or number was taken. */
          overlap: duration.default(300_000),
        })
        .optional(),
      requisitions: requisitionOptions.optional(),
      fields: z.record(z.string(), field).default({}),
      /** Where streams land. */
      landing: landingOptions(landings),
      /** Creates the tables when they are missing. For demonstrations; a customer's table belongs to the customer. */
      createTable: z.boolean().default(false),
    })
    .transform((options) => ({
      ...options,
      referenceColumn: options.referenceColumn === 'none' ? undefined : options.referenceColumn,
      readFrom:
        options.readFrom ?? (options.createTable && options.readLag > 0 ? directoryView(options.table) : options.table),
      columns: { ...defaults, ...options.fields },
    }));
}

/** `readLag` in ms; `columns` by field key, defaults and the tenant's own together. */
export type SqlOptions = z.output<ReturnType<typeof makeSchema>>;
export type SqlOptionsInput = z.input<ReturnType<typeof makeSchema>>;

/** Every column that is read; others may be nobody's business here, and not be granted. */
export function employeeColumns({ idColumn, numberColumn, ...options }: SqlOptions): string[] {
  const named = [options.referenceColumn, options.endColumn, options.changes?.column];
  const fields = Object.values(options.columns).map(({ column }) => column);
  return [...new Set([idColumn, numberColumn, ...named.filter((name) => name !== undefined), ...fields])];
}

/** The view through which a table made by us is read when reads lag. */
export function directoryView(table: string): string {
  return `${table}_directory`;
}
