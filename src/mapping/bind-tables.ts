import type { Mapping } from './load-mapping.ts';
import { type TableName, type TableRows, tableNames } from './lookup-tables.ts';

/** The tables in which a mapping looks values up. */
export function tablesOf({ fields }: Pick<Mapping, 'fields'>): TableName[] {
  return tableNames.filter((name) => fields.some(({ table }) => table?.name === name));
}

/** Adds to a mapping the table rows for its look-ups. */
export function bindTables(mapping: Mapping, tables: ReadonlyMap<TableName, TableRows>): Mapping {
  if (tables.size === 0) return mapping;
  const fields = mapping.fields.map((field) => {
    const rows = field.table === undefined ? undefined : tables.get(field.table.name);
    return field.table === undefined || rows === undefined ? field : { ...field, table: { ...field.table, rows } };
  });
  return { ...mapping, fields };
}
