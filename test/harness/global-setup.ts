import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { startPostgres } from './start-postgres.ts';

interface Service {
  answer: object;
  stop(): Promise<void>;
}

const starters: Record<string, () => Promise<Service>> = {
  async postgres() {
    const { url, stop } = await startPostgres();
    return { answer: { url }, stop };
  },
  async temporal() {
    const { path } = await resolveTemporalCli({ onProgress: (line) => process.stderr.write(`${line}\n`) });
    const { address, uiUrl, stop } = await startDevServer({ cliPath: path });
    return { answer: { address, uiUrl, cliPath: path }, stop };
  },
};

/**
 * Serves the servers that test files share. Each starts in this process with the first question, so that a run which
 * needs none pays nothing, and ends with it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Service>>();
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    const start = starters[name];
    if (start === undefined) return void response.writeHead(404).end(`unknown service ${name}`);
    const service = started.get(name) ?? start();
    started.set(name, service);
    service.then(
      ({ answer }) => response.end(JSON.stringify(answer)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  project.provide('harness', `http://127.0.0.1:${port}`);
  return async () => {
    await Promise.allSettled([...started.values()].map(async (service) => (await service).stop()));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}
