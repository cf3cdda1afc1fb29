import type { Landings } from '../hris/port.ts';
import type { SourceRecord } from '../mapping/source-fields.ts';
import type { ListEndpoint } from '../partner/client/types.ts';

/** One kind of record that is pulled from the partner and lands in the HRIS as it is, without an employee behind it. */
export interface PullStream {
  kind: 'pull';
  /** The partner's list, read page by page. */
  list: ListEndpoint;
  /** How mapping files name one of its records, and what they may read of it. */
  record: { name: string } & SourceRecord;
  /** Fields of its landing table, before a tenant adds its own. */
  landing: Landings[string];
}

/** Records that both sides have: what is edited on one is brought to the other, field by field. */
export interface ExchangeStream {
  kind: 'exchange';
  /** The type of the workflow that runs it. */
  workflow: string;
}

/** What the HRIS knows first: a workflow of its own tells the partner. */
export interface PushStream {
  kind: 'push';
  workflow: 'pushStream';
}

export type Stream = PullStream | ExchangeStream | PushStream;
