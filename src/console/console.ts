import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { ConnectorError, rejected } from '../errors.ts';
import { keepOwnAudit } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import type { ConsoleEnv } from './acts.ts';
import { type AdmissionOptions, addBoundedStore, addGuards, addSessions } from './admit.ts';
import { addAudit } from './audit.ts';
import { addChanges } from './changes.ts';
import { addDeliveries } from './deliveries.ts';
import { addHires } from './hires.ts';
import { addHolds } from './holds.ts';
import { type ConsoleParts, refusalPage } from './layout.ts';
import { addOverview } from './overview.ts';
import { addSetup } from './setup.ts';
import { addStreams } from './streams.ts';
import { addRateLimits, addTenants } from './tenants.ts';

interface ConsoleOptions extends ConsoleParts, AdmissionOptions {
  /** For reading; acts go through `act`. */
  store: Store;
  /** Loopback only, if absent. */
  host?: string;
  /** 0 uses a free port. */
  port: number;
}

export interface RunningConsole {
  url: string;
  close(): Promise<void>;
}

/** Uses the sandbox's styles, followed by those of the console's own pages. */
const STYLES = ['base', 'records', 'lists', 'forms'].map((name) => `../sandbox/page/${name}.css`);

/** The operator's pages, using the same functions as the commands. */
export async function startConsole(options: ConsoleOptions): Promise<RunningConsole> {
  const { log, store, clock, host = '127.0.0.1', port } = options;
  const app = new Hono<ConsoleEnv>();
  app.onError((error, c) => refusalPage(c, error, log));
  app.notFound((c) => refusalPage(c, rejected('PAGE_UNKNOWN', 'There is no such page here.'), log));
  addGuards(app, options);
  const style = [...STYLES, 'page/console.css'].map(readText).join('\n');
  const script = readText('page/console.js');
  app.get('/console.css', (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get('/console.js', (c) => c.body(script, 200, { 'content-type': 'text/javascript; charset=utf-8' }));
  app.get('/favicon.ico', (c) => c.body(null, 204));
  addSessions(app, options);
  addBoundedStore(app, store, clock);
  app.use(async (_c, next) => {
    await next();
    await keepOwnAudit(store, options.places.dataDir);
  });
  addOverview(app, options);
  addTenants(app, options);
  addHires(app, options);
  addHolds(app, options);
  addStreams(app, options);
  addDeliveries(app, options);
  addChanges(app, options);
  addAudit(app, options);
  addSetup(app, { ...options, isLocal: options.access.url === undefined });
  const sampling = addRateLimits(app, options);
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 },
  }) as Server;
  await listen(server, host, port);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  log.info({ url }, 'console');
  return {
    url,
    close: async () => {
      sampling.stop();
      await close(server);
    },
  };
}

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new ConnectorError({
          code: 'CONSOLE_CANNOT_LISTEN',
          action: 'retry',
          message:
            `The console cannot listen on ${host}:${port} (${cause.code ?? 'error'}). ` +
            'Free that port or choose another one (0 takes a free one).',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
