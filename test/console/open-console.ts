import { onTestFinished } from 'vitest';
import type { Grant } from '../../src/console/acts.ts';
import { type RunningConsole, startConsole } from '../../src/console/console.ts';
import { createRootLogger } from '../../src/log.ts';
import type { OperatorParts } from '../../src/operator/open-tenant.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';
import { storeIn } from '../store/stores.ts';

export const TOKEN = 'a-token-of-a-test-0123456789';

type StartOptions = Parameters<typeof startConsole>[0];

export interface OpenConsole {
  url: string;
  dataDir: string;
  store: Store;
  /** Workflows that were told something, by their ids. */
  signalled: string[];
  /** Lines that were logged. */
  logged: string[];
  /** Signs in, with a token; returns what stands in later requests. */
  signIn(token?: string): Promise<Visitor>;
}

/** A browser as far as a server can tell: its cookie, and the token of its forms. */
export interface Visitor {
  cookie: string;
  /** Of its forms. */
  csrf: string;
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; text: string; headers: Headers }>;
  /** Sends a form as a browser does; `over` replaces what is sent. */
  post(path: string, fields: Record<string, string>, over?: Record<string, string>): Promise<Response>;
  /** The same with fields that come more than once. */
  postAll(path: string, fields: URLSearchParams): Promise<Response>;
}

interface Wanted {
  /** Who has the token; an admin of everything where absent. */
  grants?: readonly Grant[];
  access?: StartOptions['access'];
  clock?: () => number;
  port?: number;
  /** Temporal answers no longer. */
  isAway?: boolean;
  /** Of a world that is there already. */
  storeUrl?: string;
  tenantsDir?: string;
}

/** The console on a port of its own over a SQLite store in a file; only Temporal is not there. */
export async function openConsole({
  isAway = false,
  grants = [{ role: 'admin', tenants: 'all' }],
  ...world
}: Wanted = {}): Promise<OpenConsole> {
  const dataDir = await scratchDir();
  const tenantsDir = world.tenantsDir ?? (await tenantDir());
  const store = await openStore(world.storeUrl ?? (await storeIn(dataDir)), { relaxed: true });
  if (world.storeUrl === undefined) await addTenant(store, 'acme');
  const signalled: string[] = [];
  const logged: string[] = [];
  const running = await startConsole({
    port: world.port ?? 0,
    access: world.access ?? { tokens: [{ by: 'ann', token: TOKEN, grants }], oidc: undefined },
    temporalUi: undefined,
    ...(world.clock === undefined ? {} : { clock: world.clock }),
    places: { dataDir, tenantsDir },
    store,
    log: createRootLogger({ write: (line) => void logged.push(line) }, 'info'),
    act: (use) => {
      const tenants = [{ tenantId: 'acme' }, { tenantId: 'globex' }];
      return use({ store, hires: noteSignals(signalled, isAway), tenants } satisfies OperatorParts);
    },
  });
  onTestFinished(async () => {
    await running.close();
    await store.close();
  });
  return { url: running.url, dataDir, store, signalled, logged, signIn: (token = TOKEN) => signIn(running, token) };
}

/** A tenant that was applied, as far as the store tells without its files. */
export async function addTenant(store: Store, tenantId: string, version: number | null = 1): Promise<void> {
  await store.kysely.insertInto('tenants').values({ tenant_id: tenantId, state: 'active', version }).execute();
}

function noteSignals(signalled: string[], isAway: boolean): HireClient {
  const signalWithStart = async (_type: string, { workflowId }: { workflowId: string }): Promise<void> => {
    if (isAway) throw new Error('Temporal is away');
    signalled.push(workflowId);
  };
  const start = async (_type: string, { workflowId }: { workflowId: string }): Promise<object> => {
    signalled.push(workflowId);
    return {};
  };
  const getHandle = (id: string) => ({ trigger: async () => void signalled.push(id) });
  const client = { workflow: { signalWithStart, start }, schedule: { getHandle } } as unknown as HireClient['client'];
  return { client, installationId: 'hb', timing: { heartbeatMs: 1, attemptMs: 1, retryMs: 1 } };
}

async function signIn({ url }: RunningConsole, token: string): Promise<Visitor> {
  const entry = await fetch(`${url}/?token=${token}`, { redirect: 'manual' });
  const cookie = (entry.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const get: Visitor['get'] = async (path, headers = {}) => {
    const response = await fetch(url + path, { headers: { cookie, ...headers }, redirect: 'manual' });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec((await get('/')).text) ?? [];
  return {
    cookie,
    csrf,
    get,
    postAll: (path, fields) =>
      fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: url },
        body: new URLSearchParams([['csrf', csrf], ...fields]),
      }),
    post: (path, fields, over = {}) =>
      fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: url, ...over },
        body: new URLSearchParams({ csrf, ...fields }),
      }),
  };
}
