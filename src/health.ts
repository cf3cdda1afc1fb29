import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ConnectorError } from './errors.ts';

/** A requirement of a process in `/readyz`. `note` is safe to show: no personal data, no secrets. */
export interface HealthCheck {
  ok: boolean;
  note?: string;
}

interface HealthOptions {
  /** Loopback, unless requests come from another machine. */
  host: string;
  /** 0 uses a free port. */
  port: number;
  registry: Registry;
  /** Called for each `/readyz`; a rejection means not ready. */
  ready: () => Promise<Record<string, HealthCheck>> | Record<string, HealthCheck>;
}

interface Health {
  url: string;
  close(): Promise<void>;
}

const READY_MS = 2_000;

/** A registry with the process's own metrics (memory, event loop lag, descriptors) under the product's prefix. */
export function createRegistry(part: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  collectDefaultMetrics({ register: registry, prefix: 'hirebridge_' });
  return registry;
}

/**
 * Serves `/healthz` (the event loop runs), `/readyz` (requirements are met; otherwise 503) and `/metrics` (Prometheus)
 * on a port of its own, since none of it is meant for the internet that reaches the webhook port.
 */
export async function startHealth(options: HealthOptions): Promise<Health> {
  const pages: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/healthz': async (response) => sendJson(response, 200, { ok: true }),
    '/readyz': (response) => sendReady(response, options.ready),
    '/metrics': async (response) => {
      const text = await options.registry.metrics();
      response.writeHead(200, { 'content-type': options.registry.contentType }).end(text);
    },
  };
  const server = createServer((request, response) => {
    const page = pages[(request.url ?? '').split('?', 1)[0] ?? ''];
    if (page === undefined) return sendJson(response, 404, { error: 'NOT_FOUND', pages: Object.keys(pages) });
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendJson(response, 405, { error: 'METHOD_NOT_ALLOWED' });
    page(response).catch(() => sendJson(response, 500, { error: 'INTERNAL' }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(cannotListen(options, cause)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    url: `http://${options.host}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function sendReady(response: ServerResponse, ready: HealthOptions['ready']): Promise<void> {
  const timer = AbortSignal.timeout(READY_MS);
  const late = new Promise<never>((_, reject) =>
    timer.addEventListener('abort', () => reject(timer.reason as Error), { once: true }),
  );
  try {
    const checks = await Promise.race([Promise.resolve(ready()), late]);
    const ok = Object.values(checks).every((check) => check.ok);
    sendJson(response, ok ? 200 : 503, { ok, checks });
  } catch (error) {
    const code = error instanceof ConnectorError ? error.code : 'CHECK_FAILED';
    sendJson(response, 503, { ok: false, checks: {}, error: code });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function cannotListen({ host, port }: HealthOptions, cause: NodeJS.ErrnoException): ConnectorError {
  return new ConnectorError({
    code: 'HEALTH_CANNOT_LISTEN',
    action: 'retry',
    message:
      `The health page cannot listen on ${host}:${port} (${cause.code ?? 'error'}). ` +
      'Free that port or choose another with --health-port (0 takes a free one).',
    cause,
  });
}
