import { z } from 'zod';
import { columnName, type FieldInput, field } from '../columns.ts';

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
