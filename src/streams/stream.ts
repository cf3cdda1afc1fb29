import type { Landings } from '../hris/port.ts';
import type { SourceRecord } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';
import type { PairEntity } from '../store/linked-pairs.ts';

/** One kind of record that is pulled from the partner and lands in the HRIS as it is, without an employee behind it. */
export interface PullStream {
  kind: 'pull';
  /** Lands in our own store instead, as a table that mappings look values up in. */
  isLookup?: true;
  /** The partner's list, read page by page. */
  list: ListEndpoint;
  /** Queries of the parts that the list comes in; one part without a query where absent. */
  segments?: readonly Record<string, unknown>[];
  /**
   * The list comes once for each record of another list; `param` names it in the list's path, and the field of a
   * landed row that says whose it is. `isTold`: webhooks name which of them to read again, as the assessment of an
   * interview, which nothing reads by its id.
   */
  parent?: {
    list: ListEndpoint;
    param: string;
    isEmpty?: (record: Record<string, unknown>) => boolean;
    isTold?: true;
  };
  /** Reads records by their ids, so many a call as its `chunk` says; where absent a hint means reading the list. */
  fetch?: ListEndpoint;
  /**
   * What is mapped of an item; `id` names each. The item itself where absent. `query` is the one of its part of the
   * list, and empty where it was read by its id.
   */
  toRecords?: (item: Record<string, unknown>, query: Readonly<Record<string, unknown>>) => Record<string, unknown>[];
  /** Fields that only the list tells: read by its id, a record leaves what is mapped from them as its row has it. */
  listOnly?: readonly string[];
  /** How mapping files name one of its records, and what they may read of it. */
  record: { name: string } & SourceRecord;
  /** Fields of its landing table, before a tenant adds its own. */
  landing: Landings[string];
}

/** Whether what a hint names can be read without the whole list. */
export function followsHints({ fetch, parent }: PullStream): boolean {
  return fetch !== undefined || parent?.isTold === true;
}

/** In place of an id, a hint says that the list should be read again. */
export const WHOLE_LIST = '*';

/** A hint that names a record of a list in parts, where the event does not say of which part. */
export function hintOfRecord(recordId: string): string {
  return `${OF_RECORD}${recordId}`;
}

/** The record that a hint names in place of its part; undefined where it names a part. */
export function recordHinted(hint: string): string | undefined {
  return hint.startsWith(OF_RECORD) ? hint.slice(OF_RECORD.length) : undefined;
}

/** No id of the partner has a blank. */
const OF_RECORD = 'record ';

/** Records that both sides have: what is edited on one is brought to the other, field by field. */
export interface ExchangeStream {
  kind: 'exchange';
  /** The type of the workflow that runs it. */
  workflow: string;
  /** The partner's record that its values hang on. */
  entity: PairEntity;
}

/** A small pass, as a whole: the partner is told what the HRIS knows first, or the HRIS is given documents. */
export interface PushStream {
  kind: 'push';
  workflow: 'pushStream';
  /** A run begins as soon as something was hinted at, and looks at that alone. */
  followsHints?: true;
  /** It goes on with each hire: looks at it as soon as it has ended. */
  followsHires?: true;
}

export type Stream = PullStream | ExchangeStream | PushStream;
