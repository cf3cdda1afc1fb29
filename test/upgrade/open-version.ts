import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../src/free-port.ts';
import { startProcess } from '../harness/run-product.ts';
import type { Process, World } from '../harness/world.ts';
import { TENANT } from '../harness/world-tenant.ts';

/** Processes of one version of the product in a world. */
export interface Version {
  worker(): Promise<Process>;
  /** With the address that the partner delivers to. */
  receiver(): Promise<{ process: Process; webhookUrl: string }>;
  /** Process ids of its workers, dead ones too. */
  workerPids(): number[];
  logs(): Promise<string>;
  close(): Promise<void>;
}

/** `main` is its entry file, this version's own where it is left out; `env` adds to the world's environment. */
export function openVersion(
  world: World,
  name: string,
  { main, env }: { main?: string; env?: NodeJS.ProcessEnv } = {},
): Version {
  const logFile = join(world.dir, `${name}.log`);
  const out = createWriteStream(logFile);
  const running: Process[] = [];
  const workers: Process[] = [];
  const places = ['--tenants', world.tenantsDir, '--data', world.dataDir, '--health-port', '0'];
  const start = async (...args: string[]): Promise<Process> => {
    const started = await startProcess(
      [...args, ...places],
      { ...world.env, ...env },
      out,
      main === undefined ? {} : { main },
    );
    running.push(started);
    return started;
  };
  return {
    async worker() {
      const worker = await start('worker');
      workers.push(worker);
      return worker;
    },
    async receiver() {
      const port = await freePort();
      const process = await start('serve', '--port', `${port}`);
      return { process, webhookUrl: `http://127.0.0.1:${port}/webhooks/${TENANT}` };
    },
    workerPids: () => workers.map(({ child }) => child.pid ?? 0),
    logs: () => readFile(logFile, 'utf8'),
    async close() {
      await Promise.allSettled(running.map((one) => one.stop()));
      await new Promise((resolve) => out.end(resolve));
    },
  };
}
