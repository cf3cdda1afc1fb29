import { statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../src/counterparts/start-postgres.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { createLines, type ResolvedCli, resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { pace } from './pace.ts';
import { startFleet } from './start-fleet.ts';

interface Service {
  answer: object;
  stop(): Promise<void>;
}

type Starters = Record<string, (ask: (name: string) => Promise<object>) => Promise<Service>>;

function starters(cli: () => Promise<ResolvedCli>): Starters {
  return {
    async fleet(ask) {
      const { address } = (await ask('temporal')) as { address: string };
      return startFleet(address);
    },
    async postgres() {
      const { url, stop } = await startPostgres(await inMemory());
      return { answer: { url }, stop };
    },
    async cli() {
      const { path } = await cli();
      return { answer: { cliPath: path }, stop: async () => undefined };
    },
    async temporal() {
      const { path } = await cli();
      // A server that somebody else started, as test:temporal-production does.
      const given = process.env['HIREBRIDGE_TEST_TEMPORAL'];
      if (given !== undefined) return { answer: { address: given, cliPath: path }, stop: async () => undefined };
      const { address, stop } = await startDevServer({ cliPath: path, headless: true });
      return { answer: { address, cliPath: path }, stop };
    },
  };
}

/** Where files can be kept in memory, and enough of it is free: copying a database takes a tenth of the time there. */
async function inMemory(): Promise<{ parent?: string }> {
  const parent = '/dev/shm';
  const space = await statfs(parent).catch(() => undefined);
  return space !== undefined && space.bavail * space.bsize > 2 * 2 ** 30 ? { parent } : {};
}

/**
 * Serves the servers that test files share. Each starts in this process with the first question, so that a run which
 * needs none pays nothing, and ends with it. Only the Temporal CLI is looked for at once where a project needs it:
 * obtaining it may take minutes, and the tests that do without run meanwhile.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Before anything else takes the processors: every process of the run inherits what is measured.
  pace();
  // Every process of the run loads the product: compiled once, a start takes half of its processor time.
  process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'hirebridge-compile-cache');
  let found: Promise<ResolvedCli> | undefined;
  const cli = () => {
    found ??= resolveTemporalCli({ onProgress: createLines((line) => process.stderr.write(`${line}\n`)) });
    // Whoever asks for it gets the error; nobody may.
    found.catch(() => undefined);
    return found;
  };
  if (project.vitest.projects.some(({ config }) => config.provide.needsTemporal === true)) void cli();
  const { url, close } = await serveOnDemand(starters(cli));
  project.provide('harness', url);
  return close;
}

async function serveOnDemand(services: Starters): Promise<{ url: string; close(): Promise<void> }> {
  const started = new Map<string, Promise<Service>>();
  const ask = async (name: string): Promise<object> => {
    const start = services[name];
    if (start === undefined) throw new Error(`unknown service ${name}`);
    const service = started.get(name) ?? start(ask);
    started.set(name, service);
    return (await service).answer;
  };
  const server = createServer((request, response) => {
    ask(request.url?.slice(1) ?? '').then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      // The last that was started may work with those before it.
      for (const service of [...started.values()].toReversed())
        await service.then(({ stop }) => stop()).catch(() => undefined);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
