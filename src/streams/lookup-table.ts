import { lookupTables, type TableName } from '../mapping/lookup-tables.ts';
import type { PullStream } from './stream.ts';

/** How mapping files of the store's own name one of its records. */
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
