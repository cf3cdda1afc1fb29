import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { createPartnerClient, type PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { ErrorBody, valueAt } from '../../src/partner/contract/endpoint.ts';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../src/sandbox/control/client.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { type HostedSandbox, hostSandbox } from './hosted-sandbox.ts';

/** Bodies of every shape, looked into freely by tests. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answered {
  status: number;
  body: Json;
  headers: Headers;
}

export type Api = (
  method: string,
  path: string,
  body?: unknown,
  init?: { key?: string; raw?: string; headers?: Record<string, string> },
) => Promise<Answered>;

export interface OpenSandbox extends HostedSandbox, AsyncDisposable {
  api: Api;
  control: ControlClient;
  /** The typed client of the first company. */
  partner: PartnerClient;
}

/**
 * A sandbox of its own over real HTTP, in another process. Every answer is checked against the contract; a defect
 * inside fails the test.
 */
export async function openSandbox(options: SandboxOptions = {}): Promise<OpenSandbox> {
  const sandbox = await hostSandbox({ seed: 11, ...options });
  const api: Api = async (method, path, body, init = {}) => {
    const headers = {
      authorization: `Bearer ${init.key ?? sandbox.key}`,
      'content-type': 'application/json',
      ...init.headers,
    };
    const sent = init.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(sandbox.url + path, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const answered = { status: response.status, body: JSON.parse(text), headers: response.headers };
    checkAgainstContract(method, path, answered);
    return answered;
  };
  const partner = createPartnerClient({
    baseUrl: sandbox.url,
    apiKey: sandbox.key,
    environment: 'sandbox',
    allowPrivate: true,
  });
  return {
    ...sandbox,
    api,
    partner,
    control: createControlClient(sandbox.controlUrl),
    async [Symbol.asyncDispose]() {
      await partner.close();
      expect(await sandbox.close()).toEqual([]);
    },
  };
}

function checkAgainstContract(method: string, path: string, answered: Answered): void {
  if (answered.status >= 400) {
    expect(ErrorBody.safeParse(answered.body).success, `${method} ${path} refuses in a body of section 7`).toBe(true);
    return;
  }
  const segments = (path.split('?')[0] ?? '').split('/');
  const endpoint = allEndpoints()
    .filter((one) => one.method === method && matches(one.path.split('/'), segments))
    .toSorted((a, b) => a.path.split(':').length - b.path.split(':').length)[0];
  const parsed = endpoint?.response.safeParse(answered.body);
  expect(parsed?.error, `${method} ${path} answers what the contract says`).toBeUndefined();
  expect([endpoint?.status, ...(endpoint?.okStatuses ?? [])]).toContain(answered.status);
  if (endpoint?.list === undefined) return;
  for (const item of valueAt(parsed?.data, endpoint.list.itemsAt) as unknown[]) {
    expect(endpoint.list.item.safeParse(item).error, `an item of ${path}`).toBeUndefined();
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => part.startsWith(':') || part === segments[index])
  );
}

export interface ReceivedWebhook {
  at: number;
  headers: Record<string, string | string[] | undefined>;
  event: string;
  body: Json;
}

/** A webhook receiver that answers with the given statuses in turn, then 200. */
export async function openReceiver(
  statuses: number[] = [],
): Promise<{ url: string; received: ReceivedWebhook[] } & AsyncDisposable> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      received.push({ at: performance.now(), headers: req.headers, event: body.event, body });
      res.writeHead(statuses.shift() ?? 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hooks`,
    received,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Looks again until it holds; fails with the last thing seen. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => boolean,
  withinMs = 5000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`Not within ${String(withinMs)} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
