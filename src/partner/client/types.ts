import type { z } from 'zod';
import type { ErrorAction } from '../../errors.ts';
import type { HttpTimeouts, RequestCarrier } from '../../http/pool.ts';
import type { Priority, RateLimitKeeper } from '../../rate-limit/rate-limit.ts';
import type { assumptions, Overrides } from '../contract/assumptions.ts';
import type { Endpoint, ListShape } from '../contract/endpoint.ts';
import type { AnyEndpoint } from '../contract/index.ts';

/** An endpoint that returns a list. */
export type ListEndpoint = Omit<Endpoint, 'list'> & { list: ListShape };

export type { AnyEndpoint };

type Nothing = Record<never, never>;
type Id = z.$brand & string;
/** A caller's input: an id from an answer is text, even if the wire has an integer. */
type Given<T> = T extends number
  ? T | Id
  : T extends string | boolean | null | undefined
    ? T
    : T extends readonly (infer Entry)[]
      ? readonly Given<Entry>[]
      : { [K in keyof T]: Given<T[K]> };
type Slot<Key extends string, Schema> = [NonNullable<Schema>] extends [z.ZodUndefined]
  ? Nothing
  : NonNullable<Schema> extends z.ZodType
    ? Nothing extends z.input<NonNullable<Schema>>
      ? { [K in Key]?: Given<z.input<NonNullable<Schema>>> }
      : { [K in Key]: Given<z.input<NonNullable<Schema>>> }
    : Nothing;

/** `{ params, query, body }` of an endpoint, each present only if the contract has it. */
export type CallInput<E extends AnyEndpoint> = Slot<'params', E['params']> &
  Slot<'query', E['query']> &
  Slot<'body', E['body']>;

/** Input of any endpoint, its types forgotten. */
export interface LooseInput {
  params?: unknown;
  query?: unknown;
  body?: unknown;
  /** Requests the page this many after the named one, even if the contract knows no such page. */
  pageShift?: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** `bulk` by default: a hire's own calls use `live`. */
  priority?: Priority | undefined;
  /** Called directly before the bytes leave; if it throws, nothing is sent. */
  beforeSend?: (() => void) | undefined;
  /** Called once the rate limit lets the call through, which may take minutes; if it throws, nothing is sent. */
  beforeWrite?: (() => Promise<void>) | undefined;
  /** Time limits of this call only, for example so that it ends before an intent's deadline. */
  timeouts?: Partial<HttpTimeouts> | undefined;
}

type Arguments<E extends AnyEndpoint> =
  Nothing extends CallInput<E>
    ? [input?: CallInput<E>, options?: CallOptions]
    : [input: CallInput<E>, options?: CallOptions];

/** One typed method per endpoint: the whole success body, envelope included. */
type Call<E extends AnyEndpoint> = (...args: Arguments<E>) => Promise<z.output<E['response']>>;

/** The contract tree with a method for each endpoint. */
export type Calls<Tree> = { [Key in keyof Tree]: Tree[Key] extends AnyEndpoint ? Call<Tree[Key]> : Calls<Tree[Key]> };

export type ItemOf<E extends ListEndpoint> = z.output<E['list']['item']>;

/** A record that does not fit the contract: kept out of the page, never silently lost. */
export interface UnreadableItem {
  index: number;
  /** The record's id, if it can be read. */
  id?: string;
  /** Field paths with their faults; never a value. */
  reason: string;
}

export interface ReadItems<Item> {
  items: Item[];
  unreadable: UnreadableItem[];
  /** A whole list: how many more records its total counts than its pages showed, if any. */
  unshown?: number;
}

export interface Page<Item> extends ReadItems<Item> {
  /** As the partner counts it: from 0 or 1. */
  page: number;
  /** Number of all records, if the answer has it. */
  total?: number;
}

/** A page with unparsed records: its envelope fits the contract, the records may not. */
export interface RawPage {
  page: number;
  total?: number;
  /** The text of each record. */
  raw: readonly Buffer[];
  /** Fields with other names at this partner; see the override fieldNames. */
  names?: Readonly<Record<string, string>>;
}

export interface RawPageOptions extends CallOptions {
  /** As the partner counts. */
  page: number;
  /** Records a page. */
  size: number;
}

export interface PageOptions extends CallOptions {
  /** The first page to read, as the partner counts; by default the query's, or its first. */
  from?: number;
  /** Records a page; by default the query's, or the most allowed. */
  size?: number;
}

/** One part of a split call. `from` and `to` (exclusive) are positions in the given array. */
export type ChunkOutcome<Value> =
  | { from: number; to: number; ok: true; value: Value }
  | { from: number; to: number; ok: false; error: Error };

/** A list's records, or for other calls the whole body. */
export type ChunkValue<E extends AnyEndpoint> = E extends ListEndpoint ? ReadItems<ItemOf<E>> : z.output<E['response']>;

/** Report about each call, for metrics and logs: ids and codes only. */
export interface CallReport {
  operation: string;
  requestId: string;
  priority: Priority;
  /** From the request for a slot to the end, in ms, including the wait for the rate limit. */
  ms: number;
  status?: number | undefined;
  code?: string | undefined;
  action?: ErrorAction | undefined;
}

export type AssumptionKey = keyof typeof assumptions;

/** One assumption, and whether an answer agrees with it. */
export interface Observation {
  assumption: AssumptionKey;
  holds: boolean;
}

export interface PartnerClientOptions {
  /** Ends in /v1/partner. */
  baseUrl: string;
  apiKey: string;
  environment: 'production' | 'sandbox';
  /** Names that the specification does not show and that differ at this tenant's partner. */
  overrides?: z.input<typeof Overrides> | undefined;
  /** Plain http and private addresses, for a sandbox on this machine. */
  allowPrivate?: boolean | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  rateLimit?: RateLimitKeeper | undefined;
  /** Calls in flight in each priority, 16 by default. */
  concurrency?: number | undefined;
  onCall?: ((report: CallReport) => void) | undefined;
  /** Receives assumptions that answers confirm or contradict. */
  onObserved?: ((observations: readonly Observation[]) => void) | undefined;
  /** Ends calls that are safe to repeat and have no signal of their own; asked before each call. */
  cancellation?: (() => AbortSignal | undefined) | undefined;
  /** Wraps each single call, for example with points where a test may kill the process. */
  around?: Around | undefined;
  /** Awaited before each write once its permit is there; a rejection keeps the request from leaving. */
  beforeWrite?: (() => Promise<void>) | undefined;
  /** Replaces the sockets: a simulation carries requests in memory. */
  dispatcher?: RequestCarrier | undefined;
}

export type Around = <T>(operation: string, run: () => Promise<T>) => Promise<T>;
