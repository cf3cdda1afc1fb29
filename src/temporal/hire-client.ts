import { Client } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { HireTiming } from '../hire/hire.ts';
import type { TemporalTelemetry } from '../telemetry/telemetry.ts';
import { openKeys } from '../vault/keys.ts';
import type { TemporalConnection } from './connection.ts';
import { payloadCodec } from './payload-codec.ts';

/** Gives workers and single commands access to this installation's workflows. */
export interface HireClient {
  client: Client;
  installationId: string;
  timing: HireTiming;
}

export function createHireClient(
  { connection, namespace }: TemporalConnection,
  installationId: string,
  config: Config,
  telemetry?: TemporalTelemetry,
): HireClient {
  // The default identity contains the machine's name, which histories would keep.
  const identity = `${installationId}@${process.pid}`;
  const interceptors = telemetry === undefined ? {} : { interceptors: { workflow: [telemetry.client] } };
  const dataConverter = { payloadCodecs: [payloadCodec(openKeys(config.HIREBRIDGE_KEYS))] };
  const client = new Client({ connection, namespace, identity, dataConverter, ...interceptors });
  return { client, installationId, timing: timingOf(config) };
}

function timingOf(config: Config): HireTiming {
  return {
    heartbeatMs: config.HIREBRIDGE_HEARTBEAT_MS,
    attemptMs: config.HIREBRIDGE_GIVE_UP_MS * 2 + 60_000,
    retryMs: config.HIREBRIDGE_RETRY_MS,
  };
}
