import { existsSync } from 'node:fs';
import {
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
  NamespaceNotFoundError,
} from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnection, NativeConnectionOptions } from '@temporalio/worker';
import { ConnectorError, rejected } from '../errors.ts';
import { searchAttributes } from './ids.ts';

interface TemporalSettings {
  /** Undefined if neither environment nor profile names a server: then the embedded one is used. */
  address: string | undefined;
  /** `default` if none is named. */
  namespace: string;
  options: NativeConnectionOptions;
}

export interface TemporalConnection {
  address: string;
  namespace: string;
  /** For clients. */
  connection: Connection;
  /** For workers; opened at the first call, because it loads the SDK's native core. */
  nativeConnection(): Promise<NativeConnection>;
  /** Why no hire can be started there now, known within a second; undefined if nothing is wrong. For readiness. */
  trouble(): Promise<string | undefined>;
  /** The error for a failed call, if Temporal is the cause; any other error unchanged. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;
const ANSWERS_MS = 1_000;
/** gRPC's own limit is two minutes: a worker would stand still for that long after Temporal is back. */
const RECONNECT_MS = 2_000;

/**
 * Reads TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, TEMPORAL_PROFILE and the profile file
 * (TEMPORAL_CONFIG_FILE) by Temporal's own rules. Throws TEMPORAL_CONFIG_INVALID.
 */
export function temporalSettings(env: NodeJS.ProcessEnv = process.env): TemporalSettings {
  const file = env['TEMPORAL_CONFIG_FILE'];
  // Temporal's loader treats a missing file as empty, and would connect to an unintended server.
  if (file !== undefined && !existsSync(file))
    throw invalid(`TEMPORAL_CONFIG_FILE names ${file}, which does not exist`);
  const { connectionOptions: options, namespace = 'default' } = load(env);
  // gRPC would quote it in its error.
  if (/[^ -~]/.test(options.apiKey ?? ''))
    throw invalid('the API key has a line break or a letter that no request can carry');
  return { address: options.address, namespace, options };
}

function load(env: NodeJS.ProcessEnv) {
  // A secret that was made from a file ends with its line end.
  const lines = Object.entries(env).map(([name, text]) => [name, text?.replace(/\r?\n$/, '')]);
  try {
    return loadClientConnectConfig({ overrideEnvVars: withoutUndefined(Object.fromEntries(lines)) });
  } catch (error) {
    throw invalid(reasonOf(error), error);
  }
}

/**
 * Connects to the server that the environment names (localhost:7233 by default), and checks that the namespace exists.
 * Throws UNREACHABLE within about 5 s, TEMPORAL_REFUSED if a key or certificate is not accepted,
 * TEMPORAL_NAMESPACE_MISSING, TEMPORAL_CONFIG_INVALID.
 */
export async function connectTemporal(env: NodeJS.ProcessEnv = process.env): Promise<TemporalConnection> {
  const { namespace, options, address = 'localhost:7233' } = temporalSettings(env);
  const target = { ...options, address };
  const channelArgs = { 'grpc.max_reconnect_backoff_ms': RECONNECT_MS };
  const retries = createRetries();
  const connection = Connection.lazy({
    ...withoutUndefined(target),
    channelArgs,
    connectTimeout: CONNECT_MS,
    interceptors: [retries.interceptor],
  });
  try {
    await connection.ensureConnected();
    await withDeadline(connection, () => connection.workflowService.describeNamespace({ namespace }));
    retries.namespaceSeen();
  } catch (error) {
    await connection.close();
    throw failure(error, address, namespace);
  }
  let native: Promise<NativeConnection> | undefined;
  const nativeConnection = () => (native ??= connectNative(target, namespace));
  return {
    address,
    namespace,
    connection,
    nativeConnection,
    async trouble() {
      const ask = <Result>(call: () => Promise<Result>) => withDeadline(connection, call, ANSWERS_MS);
      const [isThere, verdicts] = await Promise.all([
        ask(() => connection.workflowService.describeNamespace({ namespace })).then(
          () => true,
          () => false,
        ),
        // A namespace that was made anew has none. Temporal Cloud does not tell them, and keeps them.
        ask(() => listed(connection, namespace)).catch(() => undefined),
      ]);
      if (!isThere) return `Temporal does not answer at ${address} for namespace ${namespace}`;
      return verdicts && lacking(connection, namespace, verdicts);
    },
    explain: (error) => (isTemporals(error) ? failure(error, address, namespace) : error),
    async close() {
      await (await native?.catch(() => undefined))?.close();
      await connection.close();
    },
  };
}

const NOT_FOUND = 5;
/** About ten seconds together with the SDK's waits. */
const MOST_ASKED = 8;

/**
 * Calls are repeated as the SDK does it. A server that is too busy to read its own database says that a namespace does
 * not exist, so that is repeated, too, once the namespace was seen.
 */
function createRetries() {
  const retries = defaultGrpcRetryOptions();
  let isSeen = false;
  const interceptor = makeGrpcRetryInterceptor({
    ...retries,
    retryableDecider(attempt, status) {
      const isForgotten = status.code === NOT_FOUND && /^namespace .* not found/i.test(status.details);
      return (isSeen && isForgotten && attempt < MOST_ASKED) || retries.retryableDecider(attempt, status);
    },
  });
  return { interceptor, namespaceSeen: () => void (isSeen = true) };
}

/** The status codes of a call that never reached the workflow: no answer in time, too busy, away, access denied. */
const TEMPORALS = new Set([4, 7, 8, 14, 16]);

function isTemporals(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true;
  if (isGrpcServiceError(error)) return TEMPORALS.has(error.code);
  return error instanceof Error && isGrpcServiceError(error.cause) && TEMPORALS.has(error.cause.code);
}

async function connectNative(target: NativeConnectionOptions & { address: string }, namespace: string) {
  const worker = await import('@temporalio/worker');
  try {
    return await worker.NativeConnection.connect(withoutUndefined(target));
  } catch (error) {
    throw failure(error, target.address, namespace);
  }
}

function withDeadline<Result>(connection: Connection, call: () => Promise<Result>, ms = CONNECT_MS): Promise<Result> {
  return connection.withDeadline(Date.now() + ms, call);
}

/** The SDK distinguishes an absent option from an undefined one, and so does our tsconfig. */
function withoutUndefined<Value>(record: Record<string, Value | undefined>): Record<string, Value>;
function withoutUndefined<Options extends object>(record: Options): Options;
function withoutUndefined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function failure(error: unknown, address: string, namespace: string): ConnectorError {
  if (error instanceof NamespaceNotFoundError) return forgotten(error, address);
  const refusal = refusals[grpcCode(error) ?? ''];
  if (refusal !== undefined) return new ConnectorError({ ...refusal(address, namespace), cause: error });
  return new ConnectorError({
    code: 'UNREACHABLE',
    action: 'retry',
    message:
      `Temporal does not answer at ${address} (${reasonOf(error)}). Start it or correct TEMPORAL_ADDRESS; ` +
      'a server behind TLS needs TEMPORAL_TLS or TEMPORAL_API_KEY too.',
    cause: error,
  });
}

/** Only said of a namespace that was seen: connecting checks it. */
function forgotten(error: NamespaceNotFoundError, address: string): ConnectorError {
  return new ConnectorError({
    code: 'UNREACHABLE',
    action: 'retry',
    message:
      `Temporal at ${address} does not find its namespace ${error.namespace} any more, although it was there a ` +
      'moment ago: its database answers too slowly, or the namespace was deleted. Run the command again once the ' +
      'machine is less busy; what was started before goes on by itself: hirebridge status',
    cause: error,
  });
}

const refused = (address: string, namespace: string) => ({
  code: 'TEMPORAL_REFUSED',
  action: 'reject' as const,
  message:
    `Temporal at ${address} denies access to namespace ${namespace}. Check TEMPORAL_API_KEY or the ` +
    'TEMPORAL_TLS_* certificate, and that they belong to this namespace.',
});

const refusals: Record<string, typeof refused> = {
  UNAUTHENTICATED: refused,
  PERMISSION_DENIED: refused,
  NOT_FOUND: (address, namespace) => ({
    code: 'TEMPORAL_NAMESPACE_MISSING',
    action: 'reject',
    message:
      `Temporal at ${address} has no namespace ${namespace}. Correct TEMPORAL_NAMESPACE, or create it: ` +
      `temporal operator namespace create --address ${address} --namespace ${namespace}`,
  }),
};

function invalid(reason: string, cause?: unknown): ConnectorError {
  return rejected(
    'TEMPORAL_CONFIG_INVALID',
    `Temporal's settings (TEMPORAL_* and its profile file) cannot be used: ${reason}.`,
    { cause },
  );
}

/** gRPC status codes that decisions depend on, by number (grpc.io/docs/guides/status-codes). */
const names: Record<number, string> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  12: 'UNIMPLEMENTED',
  16: 'UNAUTHENTICATED',
};

/** The status in a Temporal server's error, wrapped or not; undefined for all others, such as no answer. */
export function grpcCode(error: unknown): string | undefined {
  if (isGrpcServiceError(error)) return names[error.code];
  return error instanceof Error && error.cause !== undefined ? grpcCode(error.cause) : undefined;
}

/** The deepest message in a chain of causes: the SDK's outer messages only say that something failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

/** `INDEXED_VALUE_TYPE_KEYWORD` in Temporal's API; all our attributes are keywords. */
const KEYWORD = 2;

interface Verdicts {
  missing: string[];
  otherType: string[];
}

/**
 * Checks before anything starts that the namespace has our search attributes: starting a workflow with a missing one
 * fails. Throws SEARCH_ATTRIBUTES_MISSING with the command that creates them.
 */
export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const verdicts = await connection.withDeadline(Date.now() + 10_000, () => look(connection, namespace));
  const message = lacking(connection, namespace, verdicts);
  if (message === undefined) return;
  throw rejected('SEARCH_ATTRIBUTES_MISSING', message, { details: { ...verdicts } });
}

/** What the namespace lacks, and how to create it. */
function lacking(connection: Connection, namespace: string, { missing, otherType }: Verdicts): string | undefined {
  if (missing.length === 0 && otherType.length === 0) return undefined;
  const asked = Object.entries(searchAttributes);
  const problems = [
    ...missing.map((name) => `${name} is missing`),
    ...otherType.map((name) => `${name} is not of type ${asked.find(([known]) => known === name)?.[1] ?? ''}`),
  ];
  return (
    `Temporal's namespace ${namespace} lacks search attributes: ${problems.join(', ')}.` +
    (missing.length === 0 ? ' Use another namespace.' : ` Create them: ${command(connection, namespace, missing)}`)
  );
}

/** The command that creates them: Temporal Cloud has its own tool; elsewhere the Temporal CLI does it. */
function command({ options: { address } }: Connection, namespace: string, names: string[]): string {
  if (/\.(tmprl\.cloud|temporal\.io)(:\d+)?$/.test(address)) {
    const pairs = names.map((name) => `--search-attribute ${name}=Keyword`).join(' ');
    return `tcld namespace search-attributes add --namespace ${namespace} ${pairs}`;
  }
  // The CLI pairs names with types, and silently ignores names beyond the number of types.
  const flags = names.map((name) => `--name ${name} --type Keyword`).join(' ');
  const where = `--address ${address} --namespace ${namespace}`;
  return `temporal operator search-attribute create ${where} ${flags}`;
}

async function listed(connection: Connection, namespace: string): Promise<Verdicts> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const names = Object.keys(searchAttributes);
  return {
    missing: names.filter((name) => !(name in customAttributes)),
    otherType: names.filter((name) => name in customAttributes && customAttributes[name] !== KEYWORD),
  };
}

async function look(connection: Connection, namespace: string): Promise<Verdicts> {
  try {
    return await listed(connection, namespace);
  } catch (error) {
    // Temporal Cloud does not offer the operator service; instead, a query with an unknown attribute is refused.
    if (!isGrpcServiceError(error)) throw error;
    return { missing: await unknownToQueries(connection, namespace), otherType: [] };
  }
}

async function unknownToQueries(connection: Connection, namespace: string): Promise<string[]> {
  const missing: string[] = [];
  for (const name of Object.keys(searchAttributes)) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} = 'none'` });
    } catch (error) {
      if (grpcCode(error) !== 'INVALID_ARGUMENT') throw error;
      missing.push(name);
    }
  }
  return missing;
}
