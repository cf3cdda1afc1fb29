import { contract } from '../contract/index.ts';
import { type CallEndpoint, createCaller } from './call.ts';
import { callInChunks } from './chunks.ts';
import { assertKeyFormat } from './key-format.ts';
import { readAll, readPages } from './pages.ts';
import type {
  AnyEndpoint,
  CallInput,
  CallOptions,
  Calls,
  ChunkOutcome,
  ChunkValue,
  ItemOf,
  ListEndpoint,
  Page,
  PageOptions,
  PartnerClientOptions,
  ReadItems,
} from './types.ts';

export interface PartnerLists {
  /** Reads a list page by page; a record that cannot be read is set apart and the page goes on. */
  pages<E extends ListEndpoint>(
    endpoint: E,
    input?: CallInput<E>,
    options?: PageOptions,
  ): AsyncGenerator<Page<ItemOf<E>>, void, undefined>;
  /** Every record of a list, all pages, with the unreadable ones set apart. */
  readAll<E extends ListEndpoint>(
    endpoint: E,
    input?: CallInput<E>,
    options?: PageOptions,
  ): Promise<ReadItems<ItemOf<E>>>;
  /** Splits a read or an upsert at its limit (100 ids), with an outcome per chunk in order. */
  inChunks<E extends AnyEndpoint>(
    endpoint: E,
    input: CallInput<E>,
    options?: CallOptions,
  ): Promise<ChunkOutcome<ChunkValue<E>>[]>;
  /** Lets running calls end, then closes the connections. */
  close(): Promise<void>;
}

/** The Recruitment Partner API of one company: one typed method an endpoint, named by the contract tree. */
export type PartnerClient = Calls<typeof contract> & PartnerLists;

/**
 * Opens a client for one company's key. Each call is sent at most once; a refusal, a lost answer and an unreadable one are
 * ConnectorErrors with the action to take. Throws `KEY_FORMAT`, `KEY_ENVIRONMENT`, `BAD_URL`, `HTTPS_REQUIRED` or `PRIVATE_ADDRESS`.
 */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  assertKeyFormat(options.apiKey, options.environment);
  const { call, close } = createCaller(options);
  // The types are those of the contract; below this line endpoints are data and their types forgotten.
  const lists = {
    pages: (endpoint: ListEndpoint, input = {}, pageOptions = {}) => readPages(call, endpoint, input, pageOptions),
    readAll: (endpoint: ListEndpoint, input = {}, pageOptions = {}) => readAll(call, endpoint, input, pageOptions),
    inChunks: (endpoint: AnyEndpoint, input: object, callOptions = {}) =>
      callInChunks(call, endpoint, input, callOptions),
    close,
  };
  return { ...(fold(contract, call) as Calls<typeof contract>), ...(lists as unknown as PartnerLists) };
}

function fold(tree: object, call: CallEndpoint): unknown {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]: [string, object]) => [
      name,
      isEndpoint(node) ? (input?: object, options?: CallOptions) => call(node, input, options) : fold(node, call),
    ]),
  );
}

function isEndpoint(node: object): node is AnyEndpoint {
  return 'method' in node && 'path' in node && 'response' in node;
}
