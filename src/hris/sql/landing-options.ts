import { z } from 'zod';
import { type Column, columnName, type FieldInput, field } from '../columns.ts';
import type { Landings } from '../port.ts';

export interface LandingTable {
  table: string;
  columns: Record<string, Column>;
}

/** Where the partner's records land, a table a stream; a tenant names its own tables and adds columns. */
export function landingOptions(landings: Landings) {
  const tables = Object.entries(landings).map(([stream, fields]) => [stream, landingTable(stream, fields)] as const);
  return z.strictObject(Object.fromEntries(tables)).prefault({});
}

function landingTable(stream: string, fields: Landings[string]) {
  const columns = z.record(z.string(), field).parse(defaultColumns(fields));
  return z
    .strictObject({ table: columnName.default(`partner_${stream}`), fields: z.record(z.string(), field).default({}) })
    .prefault({})
    .transform(({ table, fields: own }): LandingTable => ({ table, columns: { ...columns, ...own } }));
}

/** Columns as we would name them: `workMode` is `work_mode`. */
function defaultColumns(fields: Landings[string]): Record<string, FieldInput> {
  const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([name, def]) => [name, { column: snake(name), ...def }]));
}

/** When a row was marked as gone: a column that only `deletion: mark` needs. */
export const GONE_AT = 'gone_at';

/** Whose record it is, its id there, the hash of what was landed, and when: columns every landing table has. */
export const landingKeys = { tenant: 'tenant', id: 'partner_id', hash: 'row_hash', at: 'landed_at' } as const;
