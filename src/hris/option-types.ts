import { z } from 'zod';
import type { EmployeeRef } from '../hire/hire.ts';
import type { FieldDef } from './port.ts';

/** A hundred years: dates beyond the year 275,760 do not exist for JavaScript, and a plan would fail on them. */
const MOST_MS = 36_500 * 86_400_000;

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration as text (`30d`, `1h`, `15m`, `2s`, `250ms`), parsed to milliseconds. A bare number is refused, because its
 * unit would be a guess.
 */
export const duration = z.string('expected a duration such as 30d, 1h, 15m, 2s or 250ms').transform((text, context) => {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) {
    context.addIssue('expected a duration such as 30d, 1h, 15m, 2s or 250ms');
    return z.NEVER;
  }
  const ms = Number(amount) * (UNIT_MS[unit] ?? 1);
  if (ms > MOST_MS) context.addIssue('expected at most 36500d');
  return ms;
});

const URL_OF = 'expected an https address with {id} or {number}, such as https://hr.example/people/{id}';
const NAMES_ONE = /\{(id|number)\}/;

/** The address of an employee's page in the HR system. */
export const employeeUrl = z
  .string(URL_OF)
  .regex(/^https:\/\/[^\s]+$/, URL_OF)
  .refine((text) => NAMES_ONE.test(text), URL_OF)
  .refine((text) => /^https:\/\/[^/?#@{]+([/?#]|$)/.test(text), 'expected no user and no placeholder in the host');

/** The same, or a page below the HR system's address. */
export const employeePage = z
  .string(URL_OF)
  .regex(/^\/[^\s]*$/, URL_OF)
  .refine((text) => NAMES_ONE.test(text), URL_OF)
  .or(employeeUrl);

/** The address of a page below a tenant's address, without the address's query. */
export function pageBelow(url: string, page: string): string {
  if (!page.startsWith('/')) return page;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, '')}${page}`;
}

/** The address of one employee's page; undefined if it needs a number that is not known yet. */
export function urlOfEmployee(template: string | undefined, { id, number }: EmployeeRef): string | undefined {
  if (template === undefined || (number === undefined && template.includes('{number}'))) return undefined;
  return template.replaceAll('{id}', encodeURIComponent(id)).replaceAll('{number}', encodeURIComponent(number ?? ''));
}

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
