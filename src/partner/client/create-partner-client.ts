import { valueAt } from '../contract/envelopes.ts';
import { type Contract, contract } from '../contract/index.ts';
import { Overrides } from '../contract/overrides.ts';
import { type CallEndpoint, createCaller } from './call.ts';
import { callInChunks } from './chunks.ts';
import { assertKeyFormat } from './key-format.ts';
import { type KeyStatus, readKeyStatus } from './key-status.ts';
import { readAll, readPages } from './pages.ts';
import { readRawPage } from './raw-page.ts';
import { type RefusedCalls, refusedCallsOf } from './refused-calls.ts';
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
  RawPage,
  RawPageOptions,
  ReadItems,
} from './types.ts';

export interface PartnerCalls {
  /** Reads a list page by page; a record that cannot be read is set apart and the page goes on. */
  pages<E extends ListEndpoint>(
    endpoint: E,
    input?: CallInput<E>,
    options?: PageOptions,
  ): AsyncGenerator<Page<ItemOf<E>>, void, undefined>;
  /** One page whose records are left as they came, for `readRawRecords`; undefined behind the last. */
  rawPage<E extends ListEndpoint>(
    endpoint: E,
    input: CallInput<E>,
    options: RawPageOptions,
  ): Promise<RawPage | undefined>;
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
  /** What becomes of the key, without touching any record. */
  keyStatus(options?: CallOptions): Promise<KeyStatus>;
  /** Id or type of a job candidate's stage, where this tenant's partner names it (reading `jobCandidateStageField`). */
  stageOf(jobCandidate: Readonly<Record<string, unknown>>): string | number | undefined;
  /** Lets running calls end, then closes the connections. */
  close(): Promise<void>;
}

/** The Recruitment Partner API of one company: one typed method an endpoint, named by the contract tree. */
export type PartnerClient = Calls<Contract> & RefusedCalls & PartnerCalls;

/**
 * Opens a client for one company's key. Each call is sent at most once; a refusal, a lost answer and an unreadable one
 * are ConnectorErrors with the action to take. Throws `KEY_FORMAT`, `KEY_ENVIRONMENT`, `BAD_URL`, `HTTPS_REQUIRED` or
 * `PRIVATE_ADDRESS`.
 */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  assertKeyFormat(options.apiKey, options.environment);
  const overrides = Overrides.parse(options.overrides ?? {});
  const { call, close } = createCaller(options, overrides);
  // The types are those of the contract; from here on endpoints are data and their types forgotten.
  const calls = {
    pages: (endpoint: ListEndpoint, input = {}, pageOptions = {}) => readPages(call, endpoint, input, pageOptions),
    rawPage: (endpoint: ListEndpoint, input: object, pageOptions: RawPageOptions) =>
      readRawPage(call, endpoint, input, pageOptions),
    readAll: (endpoint: ListEndpoint, input = {}, pageOptions = {}) => readAll(call, endpoint, input, pageOptions),
    inChunks: (endpoint: AnyEndpoint, input: object, callOptions = {}) =>
      callInChunks(call, endpoint, input, callOptions),
    keyStatus: (callOptions = {}) => readKeyStatus(call, overrides, callOptions),
    stageOf: (jobCandidate: Readonly<Record<string, unknown>>) => stageOf(overrides, jobCandidate),
    close,
  };
  return withSections(calls, call) as unknown as PartnerClient;
}

/** Adds the sections of the contract, each made when it is first used: a worker has a client for every tenant. */
function withSections(client: object, call: CallEndpoint): object {
  for (const section of Object.keys(contract) as (keyof Contract)[])
    Object.defineProperty(client, section, {
      configurable: true,
      enumerable: true,
      get() {
        const value = callsOf(section, call);
        Object.defineProperty(client, section, { value, enumerable: true });
        return value;
      },
    });
  return client;
}

/** A section of the contract with a call in place of each endpoint. */
function callsOf(section: keyof Contract, call: CallEndpoint): Record<string, unknown> {
  const calls = Object.entries(contract[section]).map(([name, endpoint]: [string, AnyEndpoint]) => [
    name,
    (input?: object, options?: CallOptions) => call(endpoint, input, options),
  ]);
  return { ...Object.fromEntries(calls), ...refusedCallsOf(section) };
}

function stageOf(overrides: Overrides, jobCandidate: Readonly<Record<string, unknown>>): string | number | undefined {
  const field = overrides.jobCandidateStageField;
  const value = field === null ? undefined : valueAt(jobCandidate, field);
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
