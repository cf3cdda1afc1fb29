import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSandbox } from '../../src/sandbox/sandbox.ts';

/** What load.test.ts measures, away from the process that measures. */
async function main(): Promise<void> {
  const [input] = (await once(process, 'message')) as [{ candidates?: number; jobs?: number; bytes?: string }];
  const started = performance.now();
  const served = input.bytes === undefined ? await sandbox(input) : await bare(input.bytes);
  process.send?.({ ...served, rss: rss(), seconds: (performance.now() - started) / 1000 });
  process.on('message', () => process.send?.(rss()));
}

async function sandbox(input: { candidates?: number; jobs?: number }): Promise<{ url: string; key: string }> {
  const { url, key } = await startSandbox({ seed: 7, ...input });
  await fetch(`${url}/candidates/list`, { headers: { authorization: `Bearer ${key}` } });
  return { url, key };
}

async function bare(bytes: string): Promise<{ url: string; key: string }> {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(bytes) };
  const server = createServer((_req, res) => res.writeHead(200, headers).end(bytes)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`, key: '' };
}

/** What is held: V8 keeps freed pages pooled after a usual collection, and hands them back under pressure only. */
function rss(): number {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return process.memoryUsage().rss;
}

await main();
