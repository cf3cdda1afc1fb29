import { z } from 'zod';
import { type Column, columnName, type FieldInput, field } from '../columns.ts';
import type { Landings } from '../port.ts';

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
  const columns = z.record(z.string(), field).parse(defaultColumns(fields));
  return z
    .strictObject({ table: columnName.default(`partner_${stream}`), fields: z.record(z.string(), field).default({}) })
    .prefault({})
    .transform(({ table, fields: own }): LandingTable => ({ table, columns: { ...columns, ...own } }));
}

/** Default column names: `workMode` becomes `work_mode`. */
function defaultColumns(fields: Landings[string]): Record<string, FieldInput> {
  const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([name, def]) => [name, { column: snake(name), ...def }]));
}

/** When a row was marked as gone; only `deletion: mark` needs this column. */
export const GONE_AT = 'gone_at';

/** Columns of every landing table: the record's tenant and id, the hash of the landed values, and the time. */
export const landingKeys = { tenant: 'tenant', id: 'partner_id', hash: 'row_hash', at: 'landed_at' } as const;
