import { isAbsolute } from 'node:path';
import { z } from 'zod';
import {
  type Column,
  columnName,
  defaultColumns,
  duration,
  employeeUrl,
  type FieldInput,
  field,
  columnName as name,
} from '../option-types.ts';
import type { FieldsInUse, Landings } from '../port.ts';

/** A job of the customer processes and numbers new rows; until then a create is pending. */
const job = z.strictObject({
  /** The column in which the job writes why it refused a row. */
  errorColumn: name.optional(),
});

const FOLDER = 'expected the absolute path of a folder';

const ADDRESSES = 'expected sqlite:PATH, postgres://..., mariadb://..., env:NAME or file:PATH';

/** The address of a database, or a reference to it. */
export const databaseUrl = z
  .string(ADDRESSES)
  .regex(/^(?:sqlite:.+|postgres(?:ql)?:\/\/.+|mariadb:\/\/.+|env:\w+|file:.+)$/, ADDRESSES);

/** Made once: a schema costs more to build than to use, and a thousand tenants share one. */
const schemas = new WeakMap<Landings, ReturnType<typeof makeSchema>>();

/**
 * The options beside `kind: sql` and `connection` in a tenant file. `url` may be a reference to a secret until the
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
      url: databaseUrl,
      table: name.default('employees'),
      /** Table or view for reads; the delay of a replica or reporting view is `readLag`. */
      readFrom: name.optional(),
      idColumn: name.default('id'),
      numberColumn: name.default('employee_number'),
      /** Column for our reference, ideally with a unique index; `none` if the table has none. */
      referenceColumn: name.default('external_ref'),
      readLag: duration.default(0),
      /** Column with the last day of employment; empty while it continues. */
      endColumn: name.optional(),
      job: job.optional(),
      /** How to find changed employees. */
      changes: z
        .strictObject({
          /** A time, or a number from a sequence, set at every change of a row; a row without a value is not found. */
          column: name,
          /** How long after its time or number was taken a change may be committed. */
          overlap: duration.default(300_000),
        })
        .optional(),
      requisitions: requisitionOptions.optional(),
      resumes: resumeOptions.optional(),
      /** A folder for employees' documents, which a table cannot hold; every worker must see it. */
      files: z
        .strictObject({
          folder: z.string(FOLDER).refine((path) => isAbsolute(path), FOLDER),
        })
        .optional(),
      /** The address of an employee's page: https://hr.example/people/{id}. */
      employeeUrl: employeeUrl.optional(),
      /** Tables or views with the entries for a select field of the partner: departments, cost centres, sites. */
      lists: z
        .record(
          z.string(),
          z.strictObject({
            table: name,
            idColumn: name.default('id'),
            labelColumn: name.default('name'),
            /** Only rows in which it is true, or not 0. */
            activeColumn: name.optional(),
          }),
        )
        .optional(),
      fields: z.record(z.string(), field).default({}),
      /** The tables in which streams land. */
      landing: landingOptions(landings),
      /** Creates the tables if missing. For demonstrations only; a customer's table belongs to the customer. */
      createTable: z.boolean().default(false),
    })
    .transform((options) => ({
      ...options,
      referenceColumn: options.referenceColumn === 'none' ? undefined : options.referenceColumn,
      readFrom:
        options.readFrom ?? (options.createTable && options.readLag > 0 ? directoryView(options.table) : options.table),
      columns: { ...defaultColumns, ...options.fields },
      /** The columns that are read, and must exist. */
      reads: { ...defaultColumns, ...options.fields },
    }));
}

/**
 * Drops columns that no mapping names, because they need not exist. Writes keep every column, since a create by an
 * earlier mapping may still be under way. A table made by us has all columns.
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

/** `readLag` in ms; `columns` by field key, combining defaults and the tenant's own. */
export type SqlOptions = z.output<ReturnType<typeof makeSchema>> & {
  /** The tenant's day, for an open connection. */
  today?: () => string;
};
export type SqlOptionsInput = z.input<ReturnType<typeof makeSchema>>;

/** Every column that is read; rights on other columns may not be granted. */
export function employeeColumns({ idColumn, numberColumn, ...options }: SqlOptions): string[] {
  const named = [options.referenceColumn, options.endColumn, options.changes?.column, options.job?.errorColumn];
  const fields = Object.values(options.reads).map(({ column }) => column);
  return [...new Set([idColumn, numberColumn, ...named.filter((name) => name !== undefined), ...fields])];
}

/** The view through which a table made by us is read if reads lag. */
export function directoryView(table: string): string {
  return `${table}_directory`;
}

const DEFAULT_FIELDS: Record<string, FieldInput> = {
  title: { column: 'title', label: 'Title', required: true },
  description: { column: 'description', label: 'Description' },
  city: { column: 'city', label: 'City' },
  state: { column: 'state', label: 'State or region' },
  country: { column: 'country', label: 'Country' },
};

/** A table or view that holds only the open requisitions. */
export const requisitionOptions = z
  .strictObject({
    table: columnName.default('requisitions'),
    idColumn: columnName.default('id'),
    fields: z.record(z.string(), field).default({}),
  })
  .transform(({ table, idColumn, fields }) => ({
    table,
    idColumn,
    columns: { ...z.record(z.string(), field).parse(DEFAULT_FIELDS), ...fields },
  }));

export type RequisitionTable = z.output<typeof requisitionOptions>;

/** A table or view of files that become candidates: the address of each, and its job. */
export const resumeOptions = z.strictObject({
  table: columnName.default('resumes'),
  idColumn: columnName.default('id'),
  jobColumn: columnName.default('job'),
  urlColumn: columnName.default('url'),
});

export type ResumeSource = z.output<typeof resumeOptions>;

export interface LandingTable {
  table: string;
  columns: Record<string, Column>;
}

/** The tables in which the partner's records land, one per stream; a tenant names its own and adds columns. */
export function landingOptions(landings: Landings) {
  const tables = Object.entries(landings).map(([stream, fields]) => [stream, landingTable(stream, fields)] as const);
  return z.strictObject(Object.fromEntries(tables)).prefault({});
}

function landingTable(stream: string, fields: Landings[string]) {
  const columns = z.record(z.string(), field).parse(landingColumns(fields));
  return z
    .strictObject({ table: columnName.default(`partner_${stream}`), fields: z.record(z.string(), field).default({}) })
    .prefault({})
    .transform(({ table, fields: own }): LandingTable => ({ table, columns: { ...columns, ...own } }));
}

/** Default column names: `workMode` becomes `work_mode`. */
function landingColumns(fields: Landings[string]): Record<string, FieldInput> {
  const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([name, def]) => [name, { column: snake(name), ...def }]));
}

/** When a row was marked as gone; only `deletion: mark` needs this column. */
export const GONE_AT = 'gone_at';

/** Columns of every landing table: the record's tenant and id, the hash of the landed values, and the time. */
export const landingKeys = { tenant: 'tenant', id: 'partner_id', hash: 'row_hash', at: 'landed_at' } as const;
