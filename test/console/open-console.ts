import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type RunningConsole, startConsole } from '../../src/console/console.ts';
import { createRootLogger } from '../../src/log.ts';
import type { OperatorParts } from '../../src/operator/open-tenant.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';

export const TOKEN = 'a-token-of-a-test-0123456789';

export interface OpenConsole {
  url: string;
  store: Store;
  /** Workflows that were told something, by their ids. */
  signalled: string[];
  /** Lines that were logged. */
  logged: string[];
  /** Signs in; returns what stands in later requests. */
  signIn(): Promise<Visitor>;
}

/** A browser as far as a server can tell: its cookie, and the token of its forms. */
export interface Visitor {
  cookie: string;
  get(path: string): Promise<{ status: number; text: string; headers: Headers }>;
  /** Sends a form as a browser does; `over` replaces what is sent. */
  post(path: string, fields: Record<string, string>, over?: Record<string, string>): Promise<Response>;
}

interface Wanted {
  readOnly?: boolean;
  /** Temporal answers no longer. */
  isAway?: boolean;
  /** Of a world that is there already. */
  storeUrl?: string;
  tenantsDir?: string;
}

/** The console on a port of its own over a SQLite store in a file; only Temporal is not there. */
export async function openConsole({ readOnly = false, isAway = false, ...world }: Wanted = {}): Promise<OpenConsole> {
  const dataDir = await scratchDir();
  const tenantsDir = world.tenantsDir ?? (await tenantDir());
  const store = await openStore(world.storeUrl ?? `sqlite:${join(dataDir, 'store.db')}`);
  const signalled: string[] = [];
  const logged: string[] = [];
  const running = await startConsole({
    port: 0,
    token: TOKEN,
    by: 'ann',
    readOnly,
    places: { dataDir, tenantsDir },
    store,
    log: createRootLogger({ write: (line) => void logged.push(line) }, 'info'),
    act: (use) =>
      use({ store, hires: noteSignals(signalled, isAway), tenants: [{ tenant: 'acme' }] } satisfies OperatorParts),
  });
  onTestFinished(async () => {
    await running.close();
    await store.close();
  });
  return { url: running.url, store, signalled, logged, signIn: () => signIn(running) };
}

function noteSignals(signalled: string[], isAway: boolean): HireClient {
  const signalWithStart = async (_type: string, { workflowId }: { workflowId: string }): Promise<void> => {
    if (isAway) throw new Error('Temporal is away');
    signalled.push(workflowId);
  };
  const client = { workflow: { signalWithStart } } as unknown as HireClient['client'];
  return { client, installationId: 'hb', timing: { heartbeatMs: 1, attemptMs: 1, retryMs: 1 } };
}

async function signIn({ url }: RunningConsole): Promise<Visitor> {
  const entry = await fetch(`${url}/?token=${TOKEN}`, { redirect: 'manual' });
  const cookie = (entry.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const get: Visitor['get'] = async (path) => {
    const response = await fetch(url + path, { headers: { cookie } });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec((await get('/')).text) ?? [];
  return {
    cookie,
    get,
    post: (path, fields, over = {}) =>
      fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: url, ...over },
        body: new URLSearchParams({ csrf, ...fields }),
      }),
  };
}
