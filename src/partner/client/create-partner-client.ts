import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ConnectorError, isConnectorError, rejected } from '../../errors.ts';
import { openPool } from '../../http/pool.ts';
import { sendRequest } from '../../http/request.ts';
import { Overrides } from '../contract/assumptions.ts';
import { valueAt } from '../contract/endpoint.ts';
import { type Contract, contract, type UndefinedEndpoint, undefinedEndpoints } from '../contract/index.ts';
import { type CallEndpoint, createCaller, invalidInput } from './call.ts';
import { readAll, readPages, readRawPage } from './pages.ts';
import { rawItems, readItems } from './read-answer.ts';
import type {
  AnyEndpoint,
  CallInput,
  CallOptions,
  Calls,
  ChunkOutcome,
  ChunkValue,
  ItemOf,
  ListEndpoint,
  LooseInput,
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
  /** One page with unparsed records, for `readRawRecords`; undefined after the last page. */
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
  /** The state of the key, without touching any record. */
  keyStatus(options?: CallOptions): Promise<KeyStatus>;
  /** Id or type of a job candidate's stage, if this tenant's partner names it (reading `jobCandidateStageField`). */
  stageOf(jobCandidate: Readonly<Record<string, unknown>>): string | number | undefined;
  /** Lets running calls end, then closes the connections. */
  close(): Promise<void>;
}

/** The Recruitment Partner API of one company: one typed method per endpoint, named by the contract tree. */
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

/**
 * Splits an over-long array at the endpoint's limit (100 ids) and returns an outcome per chunk, in order: a failed
 * chunk does not hide the others. Only for reads and upserts; a call that costs a credit is refused, never split.
 */
async function callInChunks(
  call: CallEndpoint,
  endpoint: AnyEndpoint,
  input: LooseInput,
  options: CallOptions,
): Promise<ChunkOutcome<unknown>[]> {
  const { chunk } = endpoint;
  if (chunk === undefined || endpoint.costsCredit === true)
    throw invalidInput(endpoint, 'body: this call is never split');
  const entries = entriesOf(input.body, chunk.key);
  if (entries === undefined)
    throw invalidInput(endpoint, `body${chunk.key === null ? '' : `.${chunk.key}`}: expected array`);
  const starts = Array.from({ length: Math.ceil(entries.length / chunk.max) }, (_, index) => index * chunk.max);
  return Promise.all(
    starts.map(async (from) => {
      const part = entries.slice(from, from + chunk.max);
      const to = from + part.length;
      const body = chunk.key === null ? part : { ...(input.body as object), [chunk.key]: part };
      try {
        return { from, to, ok: true, value: valueOf(endpoint, await call(endpoint, { ...input, body }, options)) };
      } catch (error) {
        return { from, to, ok: false, error: error as Error };
      }
    }),
  );
}

function entriesOf(body: unknown, key: string | null): unknown[] | undefined {
  const entries = key === null ? body : (body as Record<string, unknown> | undefined)?.[key];
  return Array.isArray(entries) ? entries : undefined;
}

function valueOf(endpoint: AnyEndpoint, body: unknown): unknown {
  return endpoint.list === undefined ? body : readItems(endpoint.list, rawItems(endpoint.list, body));
}

type Refused = () => Promise<never>;

/**
 * Endpoints that the specification names without details. They exist so that a caller gets a reason instead of a
 * missing function.
 */
interface RefusedCalls {
  jobs: { get: Refused; update: Refused };
  bookings: { reschedule: Refused; cancel: Refused; checkIn: Refused; markNoShow: Refused };
  campaigns: { update: Refused };
}

/** The refusals of one section of the contract, by name. */
function refusedCallsOf(section: string): Record<string, Refused> {
  const refused = undefinedEndpoints.map((endpoint) => [endpoint, ...endpoint.id.split('.')] as const);
  return Object.fromEntries(
    refused
      .filter(([, own]) => own === section)
      .map(([endpoint, , name = '']) => [name, () => Promise.reject(notShown(endpoint))]),
  );
}

function notShown(endpoint: UndefinedEndpoint): ConnectorError {
  return rejected(
    'NOT_IN_SPECIFICATION',
    `${endpoint.id} was not sent: section ${endpoint.section} does not specify it (${endpoint.what}). Do it in ` +
      "the partner's dashboard.",
    { details: { operation: endpoint.id, section: endpoint.section } },
  );
}

/** `unknown` if the partner has no such address: its path is not shown (section 5.4) and comes from the overrides. */
export type KeyStatus = 'active' | 'refused' | 'unknown';

/** Asks for the state of the key, without touching any record. Errors other than a refusal of the key are thrown. */
async function readKeyStatus(call: CallEndpoint, overrides: Overrides, options: CallOptions): Promise<KeyStatus> {
  try {
    const body = await call(keyStatusEndpoint(overrides.keyStatusPath), {}, options);
    return KeyExists.safeParse(body).data?.isApiKeyExists === false ? 'refused' : 'active';
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'reauthorize') return 'refused';
    if (error.status === 404) return 'unknown';
    throw error;
  }
}

const KeyExists = z.looseObject({ isApiKeyExists: z.boolean().nullish() });

function keyStatusEndpoint(path: `/${string}`): AnyEndpoint {
  return {
    id: 'keyStatus',
    method: 'GET',
    path,
    section: '5.4',
    summary: 'Status of the key',
    status: 200,
    envelope: 'bare',
    response: z.looseObject({}),
    errors: [],
  };
}

const prefixes = { production: 'sk_live_', sandbox: 'sk_test_' } as const;

/**
 * Refuses a key that cannot be one, or is of the other environment (section 5, rule 2), before any call. The key itself
 * is never shown.
 */
function assertKeyFormat(apiKey: string, environment: keyof typeof prefixes): void {
  const match = /^(sk_live_|sk_test_)[0-9A-Za-z]{22}$/.exec(apiKey);
  if (match === null)
    throw badKey('KEY_FORMAT', 'The partner key is not sk_live_ or sk_test_ followed by 22 letters and digits');
  if (match[1] === prefixes[environment]) return;
  throw badKey(
    'KEY_ENVIRONMENT',
    `The partner key begins with ${match[1]}, and the environment "${environment}" needs ${prefixes[environment]}`,
  );
}

function badKey(code: string, what: string): ConnectorError {
  return new ConnectorError({
    code,
    action: 'reauthorize',
    message: `${what}. Nothing was sent. Check the key and the environment in the tenant file.`,
  });
}

/** Names a key without showing it. */
export function fingerprintOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
}

/** Journey uploads are at most 10 MB (section 8); HR systems with a stated limit take 20. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;

interface DownloadedFile {
  bytes: Buffer;
  /** Without parameters: `application/pdf`. */
  mediaType: string;
}

interface DownloadOptions {
  /** For a local sandbox: plain http and private addresses. */
  allowPrivate: boolean;
  signal: AbortSignal;
}

/**
 * The file behind a time-limited URL (section 8), whole or not at all. The address comes from the partner, so the key
 * is never sent to it, private addresses are never called, and no redirect is followed. Errors show no part of it: it
 * opens the file to anybody who has it, and its path may be a person's name.
 * @throws ConnectorError FILE_UNREACHABLE (retry), FILE_UNAVAILABLE (reject)
 */
export async function downloadFile(url: string, { allowPrivate, signal }: DownloadOptions): Promise<DownloadedFile> {
  try {
    return await download(url, { allowPrivate, signal });
  } catch (error) {
    if (!isConnectorError(error) || error.code.startsWith('FILE_')) throw error;
    const isFinal = error.action === 'reject' || error.code === 'ANSWER_TOO_LARGE';
    throw isFinal ? unavailable(reasons[error.code] ?? error.code) : unreachable(error.code);
  }
}

async function download(url: string, { allowPrivate, signal }: DownloadOptions): Promise<DownloadedFile> {
  const pool = openPool(url, { allowPrivate, connections: 1 });
  try {
    const { pathname, search } = new URL(url);
    const answer = await sendRequest(pool, {
      method: 'GET',
      path: pathname + search,
      maxBodyBytes: MAX_FILE_BYTES,
      signal,
    });
    const { status, headers, body } = answer;
    if (status >= 500 || status === 429) throw unreachable(`status ${status}`);
    if (status >= 300 && status < 400)
      throw unavailable(
        `its address redirects (${status}), and no redirect is followed`,
        'Ask the hiring platform for the address of the file itself, or copy the file by hand',
      );
    if (status !== 200) throw unavailable(`it was answered with status ${status}`);
    const mediaType =
      String(headers['content-type'] ?? '')
        .split(';', 1)[0]
        ?.trim()
        .toLowerCase() ?? '';
    if (body.length === 0) throw unavailable('it is empty');
    if (mediaType === 'text/html') throw unavailable('its address leads to a web page');
    return { bytes: body, mediaType: mediaType === '' ? 'application/octet-stream' : mediaType };
  } finally {
    await pool.close();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ANSWER_TOO_LARGE: 'it is larger than 20 MB',
  PRIVATE_ADDRESS: 'its address is not of the public internet',
  HTTPS_REQUIRED: 'its address is not https',
  BAD_URL: 'its address is not a URL',
};

function unavailable(
  why: string,
  next = 'Correct it at the hiring platform, or copy the file by hand',
): ConnectorError {
  return rejected('FILE_UNAVAILABLE', `The hiring platform's file cannot be copied: ${why}. ${next}.`);
}

function unreachable(why: string): ConnectorError {
  return new ConnectorError({
    code: 'FILE_UNREACHABLE',
    action: 'retry',
    message: `The hiring platform's file cannot be read now (${why}). It is tried again with the next pass.`,
  });
}
