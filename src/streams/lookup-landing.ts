import type { FieldDef, Landing } from '../hris/port.ts';
import { compileMapping, type Mapping } from '../mapping/load-mapping.ts';
import { listLookupIds, readLookupRows, removeLookupRows, saveLookupRows } from '../store/lookup-rows.ts';
import type { Store } from '../store/open-store.ts';
import { parseYaml } from '../yaml/yaml-file.ts';
import { RECORD } from './lookup-table.ts';
import type { PullStream } from './stream.ts';

/** Lands records in our own store, where mappings look values up; a pass over them is like any other. */
export function lookupLanding(store: Store): Landing {
  const keyOf = (stream: string, tenantId: string) => ({ tenantId, stream });
  return {
    async land(stream, rows, { tenant, force, beforeWrite }) {
      const key = keyOf(stream, tenant);
      const ids = rows.map(({ id }) => id);
      const stored = new Map((await readLookupRows(store, key, ids)).map((row) => [row.id, row]));
      const changed = rows.filter((row) => force === true || stored.get(row.id)?.hash !== row.hash);
      const created = changed.filter((row) => !stored.has(row.id)).length;
      if (changed.length > 0) {
        await beforeWrite?.(changed.map((row) => ({ row, before: stored.get(row.id) })));
        await saveLookupRows(store, key, changed);
      }
      return { created, updated: changed.length - created, unchanged: rows.length - changed.length };
    },
    read: (stream, ids, { tenant }) => readLookupRows(store, keyOf(stream, tenant), ids),
    hashes: async (stream, ids, { tenant }) =>
      new Map((await readLookupRows(store, keyOf(stream, tenant), ids)).map(({ id, hash }) => [id, hash])),
    ids: (stream, { tenant, ...which }) => listLookupIds(store, keyOf(stream, tenant), which),
    remove: (stream, ids, { tenant }) => removeLookupRows(store, keyOf(stream, tenant), ids),
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
