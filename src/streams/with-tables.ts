import { ConnectorError } from '../errors.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { bindTables, tablesOf } from '../mapping/load-mapping.ts';
import { lookupTables, type TableName, type TableRows } from '../mapping/lookup-tables.ts';
import { readLookupRows } from '../store/lookup-rows.ts';
import type { Store } from '../store/open-store.ts';
import { readStreamState } from '../store/streams.ts';
import type { PullStream } from './stream.ts';

/**
 * Adds to a mapping the lookup tables that its rules use, as their streams last read them; makes no call to the
 * partner.
 * @throws ConnectorError TABLE_NOT_READ (retry) before a table's first whole pass
 */
export async function withTables(store: Store, tenantId: string, mapping: Mapping): Promise<Mapping> {
  const tables = await readTables(store, tenantId, tablesOf(mapping));
  const missing = tablesOf(mapping).find((name) => !tables.has(name));
  if (missing !== undefined) throw notRead(tenantId, missing);
  return bindTables(mapping, tables);
}

/** The same for a person who only looks: a table that was never read counts as having no records. */
export async function withKnownTables(store: Store, tenantId: string, mapping: Mapping): Promise<Mapping> {
  return bindTables(mapping, await readTables(store, tenantId, tablesOf(mapping)));
}

async function readTables(
  store: Store,
  tenantId: string,
  names: readonly TableName[],
): Promise<Map<TableName, TableRows>> {
  const tables = new Map<TableName, TableRows>();
  for (const name of names) {
    const key = { tenantId, stream: name };
    const wholeAt = (await readStreamState(store, key))?.whole_at ?? null;
    if (wholeAt === null) continue;
    tables.set(name, new Map((await readLookupRows(store, key)).map(({ id, fields }) => [id, fields])));
  }
  return tables;
}

function notRead(tenantId: string, name: TableName): ConnectorError {
  return new ConnectorError({
    code: 'TABLE_NOT_READ',
    action: 'retry',
    message:
      `The mapping looks values up in the table ${name}, and ${name} of ${tenantId} have never been read ` +
      `completely. It continues once they have been; to read them now: hirebridge sync ${tenantId} ${name}`,
  });
}

/** Name of a record in the mapping files of lookup tables. */
export const RECORD = 'record';

/** A stream that keeps a table of the partner in our store, for mappings to look values up in. */
export function lookupTable(name: TableName, source: Pick<PullStream, 'list' | 'toRecords'>): PullStream {
  const columns = lookupTables[name];
  return {
    kind: 'pull',
    isLookup: true,
    ...source,
    record: { name: RECORD, fields: ['id', ...columns] },
    landing: Object.fromEntries(columns.map((column) => [column, { type: 'text' }])),
  };
}
