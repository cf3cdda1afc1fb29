import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';

type Say = (status: number, body: unknown, headers?: Readonly<Record<string, string | string[]>>) => void;
export type Answer = (asked: IncomingMessage, say: Say) => unknown;

/** The HR system that a definition describes, at a small server that answers as it is told; both end with the test. */
export async function openKestrel(
  text: string,
  answer: Answer,
  options: Readonly<Record<string, string>>,
  base = '',
): Promise<HrisConnection> {
  const url = `${await startKestrel(answer)}${base}`;
  const definition = { file: '/kestrel.yaml', text };
  const hris = await openHris('http', 'kestrel', { url, definition, allowPrivateAddress: true, ...options }, {});
  onTestFinished(() => hris.close());
  return hris;
}

/** The address of the small server alone. */
export async function startKestrel(answer: Answer): Promise<string> {
  const server = createServer((asked, response) => {
    const say: Say = (status, body, headers) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    void answer(asked, say);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
