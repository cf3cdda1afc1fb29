import type { FieldDef } from '../hris/port.ts';
import { compileMapping, type Mapping } from '../mapping/load-mapping.ts';
import { lookupTables, type TableName } from '../mapping/lookup-tables.ts';
import { parseYaml } from '../yaml/yaml-file.ts';
import type { PullStream } from './stream.ts';

/** How mapping files of the store's own name one of its records. */
const RECORD = 'record';

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

/** What a record of the table comes to: its columns as they are. */
export function mappingOfTable(name: string, { landing, record }: PullStream): Mapping {
  const columns = Object.keys(landing);
  const fields = columns.map((key): FieldDef => ({ key, label: key, type: 'text', required: false, writable: true }));
  const rules = columns.map((key) => `  ${key}: { from: ${RECORD}.${key} }\n`).join('');
  const source = parseYaml(`${name}.yaml`, `fields:\n${rules}`);
  return compileMapping('lookup', fields, [source], { of: { name, reads: { [RECORD]: record } } });
}
