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
import { ConnectorError } from '../errors.ts';
import { grpcCode, reasonOf } from './grpc-error.ts';

export interface TemporalSettings {
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
  /** Whether the server answers for this namespace within a second; for readiness. */
  answers(): Promise<boolean>;
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
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: withoutUndefined(env) });
    return { address: connectionOptions.address, namespace: namespace ?? 'default', options: connectionOptions };
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
    answers: () =>
      withDeadline(connection, () => connection.workflowService.describeNamespace({ namespace }), ANSWERS_MS).then(
        () => true,
        () => false,
      ),
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
  return new ConnectorError({
    code: 'TEMPORAL_CONFIG_INVALID',
    action: 'reject',
    message: `Temporal's settings (TEMPORAL_* and its profile file) cannot be used: ${reason}.`,
    cause,
  });
}
