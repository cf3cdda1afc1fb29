import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../log.ts';
import { checkSearchAttributes } from '../../temporal/check-search-attributes.ts';
import { connectTemporal, temporalSettings } from '../../temporal/connection.ts';
import { showCliProgress } from '../../temporal/dev-server/cli-progress.ts';
import { type DevServer, startDevServer } from '../../temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../temporal/dev-server/resolve-cli.ts';
import { assertNoOtherTemporal, forgetTemporal, rememberTemporal } from './embedded-address.ts';

export interface ProvidedTemporal {
  address: string;
  /** The web page, where the server is ours. */
  uiUrl: string | undefined;
  /** What children need to reach it. */
  env: NodeJS.ProcessEnv;
  /** How long the CLI's arrival took; 0 where none was needed. */
  cliSeconds: number;
  close(): Promise<void>;
}

export interface TemporalOptions {
  dataDir: string;
  uiPort?: number;
}

const log = createLogger('temporal');

/** The Temporal that environment or profile name, or a dev server of our own whose data stays in the data directory. */
export async function provideTemporal(options: TemporalOptions): Promise<ProvidedTemporal> {
  if (temporalSettings().address !== undefined) return useConfigured();
  await assertNoOtherTemporal(options.dataDir);
  const cli = await resolveTemporalCli({ onProgress: showCliProgress() });
  const server = await keepDevServer(options, cli.path);
  await rememberTemporal(options.dataDir, server.address);
  return { ...server, env: { TEMPORAL_ADDRESS: server.address }, cliSeconds: cli.seconds };
}

/** Asks the configured server first: a wrong address is one error here, not a child that keeps failing. */
async function useConfigured(): Promise<ProvidedTemporal> {
  const temporal = await connectTemporal();
  try {
    await checkSearchAttributes(temporal.connection, temporal.namespace);
  } finally {
    await temporal.close();
  }
  return { address: temporal.address, uiUrl: undefined, env: {}, cliSeconds: 0, close: async () => undefined };
}

/** Runs the dev server and starts it again, at the same address, when it ends unasked. */
async function keepDevServer({ dataDir, uiPort }: TemporalOptions, cliPath: string) {
  const files = { dbFile: join(dataDir, 'temporal.db'), logFile: join(dataDir, 'temporal.log') };
  const first = await startDevServer({ cliPath, ...files, ...(uiPort === undefined ? {} : { uiPort }) });
  const ports = { port: portOf(first.address), ...(first.uiUrl === undefined ? {} : { uiPort: portOf(first.uiUrl) }) };
  const stop = new AbortController();
  let current: DevServer | undefined = first;

  async function watch(): Promise<void> {
    while (current !== undefined) {
      const how = await current.ended;
      if (stop.signal.aborted) return;
      log.warn({ how }, 'Temporal ended, starting it again');
      current = await restart();
    }
  }
  async function restart(): Promise<DevServer | undefined> {
    for (let waitMs = 500; !stop.signal.aborted; waitMs = Math.min(waitMs * 2, 10_000)) {
      try {
        return await startDevServer({ cliPath, ...files, ...ports });
      } catch (err) {
        log.error({ err, waitMs }, 'Temporal does not start, trying again');
        await pause(waitMs, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
  const watching = watch();

  return {
    address: first.address,
    uiUrl: first.uiUrl,
    async close() {
      stop.abort();
      await current?.stop();
      await watching;
      await current?.stop();
      await forgetTemporal(dataDir);
    },
  };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
