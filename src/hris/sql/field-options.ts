import { z } from 'zod';
import type { FieldDef } from '../port.ts';

/** A table or column, with its schema where it has one. */
export const columnName = z.string().regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$/, 'expected the name of a table or column');

/** A field and the column that holds it. */
export const field = z.strictObject({
  column: columnName,
  label: z.string().optional(),
  type: z.enum(['text', 'number', 'date', 'boolean', 'list']).default('text'),
  required: z.boolean().default(false),
  options: z.array(z.string()).min(1).optional(),
  maxLength: z
    .int()
    .min(1)
    .describe('Characters that the column holds; longer values are refused, never cut')
    .optional(),
});

export type FieldInput = z.input<typeof field>;
export type Column = z.output<typeof field>;

/** What a mapping may write into these columns. */
export function fieldDefs({ columns }: { columns: Record<string, Column> }): FieldDef[] {
  return Object.entries(columns).map(([key, column]) => ({
    key,
    label: column.label ?? key,
    type: column.type,
    required: column.required,
    writable: true,
    ...(column.options === undefined ? {} : { options: column.options }),
    ...(column.maxLength === undefined ? {} : { maxLength: column.maxLength }),
  }));
}
