import { ConnectorError } from '../errors.ts';
import type { Landings } from '../hris/port.ts';
import { lookupTables, type TableName, type TableRows } from '../mapping/compile-rule.ts';
import { bindTables, type Mapping, tablesOf } from '../mapping/load-mapping.ts';
import type { SourceRecord } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import type { PairEntity } from '../store/linked-pairs.ts';
import { readLookupRows } from '../store/lookup-rows.ts';
import type { Store } from '../store/open-store.ts';
import { readStreamState } from '../store/streams.ts';

/** One kind of record that is pulled from the partner and lands in the HRIS as it is, without an employee behind it. */
export interface PullStream {
  kind: 'pull';
  /** The stream lands in our own store instead, as a table in which mappings look values up. */
  isLookup?: true;
  /** The partner's list, read page by page. */
  list: ListEndpoint;
  /** Queries for the parts of the list; a single part without a query if absent. */
  segments?: readonly Record<string, unknown>[];
  /**
   * The list exists once per record of another list. `param` names that record in the list's path, and is the field of
   * a landed row that holds its id. `isTold`: webhooks name which of these lists to read again, for example the
   * assessment of an interview, because no call reads an interview by id.
   */
  parent?: {
    list: ListEndpoint;
    param: string;
    isEmpty?: (record: Record<string, unknown>) => boolean;
    isTold?: true;
  };
  /** Call that reads records by id, in chunks as its `chunk` says; if absent, a hint makes the list be read. */
  fetch?: ListEndpoint;
  /**
   * Turns an item into the records to map, each with an `id`; if absent, the item itself. `query` is that of its part
   * of the list, and empty if the item was read by id.
   */
  toRecords?: (item: Record<string, unknown>, query: Readonly<Record<string, unknown>>) => Record<string, unknown>[];
  /** Fields that only the list shows: for a record read by id, fields mapped from these keep the row's value. */
  listOnly?: readonly string[];
  /** The record's name in mapping files, and the fields that they may read. */
  record: { name: string } & SourceRecord;
  /** Fields of its landing table, before a tenant adds its own. */
  landing: Landings[string];
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

/** Whether a hint can be followed without reading the whole list. */
export function followsHints({ fetch, parent }: PullStream): boolean {
  return fetch !== undefined || parent?.isTold === true;
}

/** Stands in place of an id in a hint that asks for the whole list. */
export const WHOLE_LIST = '*';

/** Records that both sides have: edits on either side are carried to the other, field by field. */
export interface ExchangeStream {
  kind: 'exchange';
  /** Type of the workflow that runs it. */
  workflow: string;
  /** The partner's kind of record that holds the values. */
  entity: PairEntity;
}

/** A small stream handled as one pass: sends the HRIS's data to the partner, or documents to the HRIS. */
export interface PushStream {
  kind: 'push';
  workflow: 'pushStream';
  /** A run starts as soon as a hint comes, and looks only at records with hints. */
  followsHints?: true;
  /** The stream continues each hire: it looks at a hire as soon as it has ended. */
  followsHires?: true;
}

export type Stream = PullStream | ExchangeStream | PushStream;

/** A person's request: `hirebridge sync TENANT rescoring --one JOB`. */
export interface RescoreAsk {
  jobId: string;
  /** Seconds by the database's clock; each request is one run. */
  askedAt: number;
}

/** The request as a hint, in a form that no partner id has. */
export function hintOfAsk({ jobId, askedAt }: RescoreAsk): string {
  return `job ${jobId} at ${askedAt}`;
}

/** Undefined if the hint is no such request. */
export function askIn(hint: string): RescoreAsk | undefined {
  const [, jobId, at] = /^job (\S+) at (\d+)$/.exec(hint) ?? [];
  return jobId === undefined ? undefined : { jobId, askedAt: Number(at) };
}

/**
 * Adds to a mapping the lookup tables that its rules use, as their streams last read them; makes no call to the
 * partner.
 * @throws ConnectorError TABLE_NOT_READ (retry) before a table's first whole pass
 */
export async function withTables(store: Store, tenantId: string, mapping: Mapping): Promise<Mapping> {
  const tables = await readTables(store, tenantId, tablesOf(mapping));
  const name = tablesOf(mapping).find((one) => !tables.has(one));
  if (name !== undefined)
    throw new ConnectorError({
      code: 'TABLE_NOT_READ',
      action: 'retry',
      message:
        `The mapping looks values up in the table ${name}, and ${name} of ${tenantId} have never been read ` +
        `completely. It continues once they have been; to read them now: hirebridge sync ${tenantId} ${name}`,
    });
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
