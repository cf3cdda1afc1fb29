import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { defaultColumns, field, columnName as name } from '../columns.ts';
import { duration } from '../duration.ts';
import { employeeUrl } from '../employee-url.ts';
import type { FieldsInUse, Landings } from '../port.ts';
import { landingOptions } from './landing-options.ts';
import { requisitionOptions, resumeOptions } from './requisition-options.ts';

/** A job of the customer's takes new rows up and numbers them; until then a create is pending. */
const job = z.strictObject({
  /** Where the job writes why it refused a row. */
  errorColumn: name.optional(),
});

const FOLDER = 'expected the absolute path of a folder';

const ADDRESSES = 'expected sqlite:PATH, postgres://..., mariadb://..., env:NAME or file:PATH';

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
  return z
    .strictObject({
      url: z
        .string(ADDRESSES)
        .regex(/^(?:sqlite:.+|postgres(?:ql)?:\/\/.+|mariadb:\/\/.+|env:\w+|file:.+)$/, ADDRESSES),
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
      job: job.optional(),
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
      resumes: resumeOptions.optional(),
      /** Where documents of employees go, which a table has no place for: a folder that every worker sees. */
      files: z
        .strictObject({
          folder: z.string(FOLDER).refine((path) => isAbsolute(path), FOLDER),
        })
        .optional(),
      /** Where people see an employee: https://hr.example/people/{id}. */
      employeeUrl: employeeUrl.optional(),
      /** Tables or views of entries that a select field of the partner takes: departments, cost centres, sites. */
      lists: z
        .record(
          z.string(),
          z.strictObject({
            table: name,
            idColumn: name.default('id'),
            labelColumn: name.default('name'),
            /** Only rows where it is true, or not 0. */
            activeColumn: name.optional(),
          }),
        )
        .optional(),
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
      columns: { ...defaultColumns, ...options.fields },
      /** Those of them that are read, and must be there. */
      reads: { ...defaultColumns, ...options.fields },
    }));
}

/**
 * Without the columns that no mapping names: they need not be there. What is written keeps every column, because a
 * create of an earlier mapping may still be under way. A table made by us gets them all.
 */
export function narrowed(options: SqlOptions, inUse: FieldsInUse | undefined): SqlOptions {
  if (inUse === undefined || options.createTable) return options;
  const landing = Object.entries(options.landing).map(([stream, { table, columns }]) => [
    stream,
    { table, columns: only(columns, inUse.landing[stream] ?? new Set()) },
  ]);
  return { ...options, reads: only(options.columns, inUse.employee), landing: Object.fromEntries(landing) };
}

function only(columns: SqlOptions['columns'], keys: ReadonlySet<string>): SqlOptions['columns'] {
  return Object.fromEntries(Object.entries(columns).filter(([key]) => keys.has(key)));
}

/** `readLag` in ms; `columns` by field key, defaults and the tenant's own together. */
export type SqlOptions = z.output<ReturnType<typeof makeSchema>>;
export type SqlOptionsInput = z.input<ReturnType<typeof makeSchema>>;

/** Every column that is read; others may be nobody's business here, and not be granted. */
export function employeeColumns({ idColumn, numberColumn, ...options }: SqlOptions): string[] {
  const named = [options.referenceColumn, options.endColumn, options.changes?.column, options.job?.errorColumn];
  const fields = Object.values(options.reads).map(({ column }) => column);
  return [...new Set([idColumn, numberColumn, ...named.filter((name) => name !== undefined), ...fields])];
}

/** The view through which a table made by us is read when reads lag. */
export function directoryView(table: string): string {
  return `${table}_directory`;
}
