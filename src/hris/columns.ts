import { z } from 'zod';
import type { FieldDef } from './port.ts';

/** A table or column, with its schema if it has one. */
export const columnName = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/, 'expected the name of a table or column');

export const field = z.strictObject({
  column: columnName,
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list']).default('text'),
  required: z.boolean().default(false),
  options: z.array(z.string()).min(1).optional(),
  maxLength: z
    .int()
    .min(1)
    .describe('How many characters the column holds; a longer value is refused, never cut')
    .optional(),
});

export type FieldInput = z.input<typeof field>;
export type Column = z.output<typeof field>;

/** The fields of these columns that a mapping may write. */
export function fieldDefs({ columns, table }: { columns: Record<string, Column>; table?: string }): FieldDef[] {
  return Object.entries(columns).map(([key, column]) => ({
    key,
    label: column.label ?? key,
    place: table === undefined ? column.column : `${table}.${column.column}`,
    type: column.type,
    required: column.required,
    writable: true,
    ...(column.options === undefined ? {} : { options: column.options }),
    ...(column.maxLength === undefined ? {} : { maxLength: column.maxLength }),
  }));
}

/** Marks a text field as one that `isTaken` can look up. */
export function lookedUp(def: FieldDef): FieldDef {
  return def.type === 'text' && def.options === undefined ? { ...def, isLookedUp: true } : def;
}

/** Default columns of employees; a tenant names its own with `fields`. */
const COLUMNS: Record<string, FieldInput> = {
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

export const defaultColumns: Readonly<Record<string, Column>> = z.record(z.string(), field).parse(COLUMNS);
