import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Places, readConfig } from '../config.ts';
import { rejected } from '../errors.ts';
import { assertFree, freePort } from '../free-port.ts';
import { createLogger } from '../log.ts';
import { listTenantStates } from '../store/tenant-states.ts';
import { checkSearchAttributes, connectTemporal, temporalSettings } from '../temporal/connection.ts';
import { type DevServer, startDevServer } from '../temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../temporal/dev-server/resolve-cli.ts';
import { assertFirstFolder, currentTenants } from '../tenants/current-tenants.ts';
import { planApplication } from '../tenants/plan-application.ts';
import { example, placesOf, port } from './command.ts';
import { lookInto, temporalAddressFile } from './open.ts';
import { Announcement, stopSignal } from './part.ts';
import { type ChildSpec, type Supervisor, supervise } from './supervise.ts';

interface UpFlags extends Omit<UpOptions, keyof Places | 'print'> {
  console: boolean;
  consolePort?: number;
}

export const commands = { up: defineUp };

function defineUp(command: Command): void {
  command
    .description(
      "Run everything on this machine until Ctrl-C: receiver, worker, the operator's pages, " +
        'and Temporal unless TEMPORAL_ADDRESS or a profile names one.',
    )
    .option('--port <n>', 'port of the webhook address (default 8787, or HIREBRIDGE_PORT)', port)
    .option('--host <address>', 'address the receiver listens on (default 127.0.0.1, or HIREBRIDGE_HOST)')
    .option('--ui-port <n>', 'port of the Temporal web page, if Temporal is started here', port)
    .option('--console-port <n>', "port of the operator's pages (default 8790, or a free one if that is taken)", port)
    .option('--no-console', "without the operator's pages")
    .addHelpText('after', example('hirebridge up', 'hirebridge up --tenants ./tenants --data /var/lib/hirebridge'))
    .action(runUp);
}

async function runUp({ console: wanted, consolePort, ...options }: UpFlags, command: Command): Promise<void> {
  const stop = stopSignal();
  const places = await placesOf(command);
  const up = await startUp({ ...places, ...options }, stop);
  let pages: UpConsole | undefined;
  try {
    await up.ready;
    // The console expects an existing store with current tables, so it starts only now.
    const { env, uiUrl } = up.temporal;
    const ui = uiUrl === undefined ? {} : { HIREBRIDGE_TEMPORAL_UI: `${uiUrl}/namespaces/default` };
    if (wanted && !stop.aborted) pages = await startUpConsole(places, { port: consolePort, env: { ...ui, ...env } });
    const firsts = stop.aborted ? '' : await describeFirsts(places, stop);
    const console = pages === undefined ? '' : `console          ${pages.address}\n`;
    process.stdout.write(`${console}${firsts}${up.describe()}\n`);
    await Promise.race([up.untilStopped, ...(pages === undefined ? [] : [pages.failed])]);
  } finally {
    await Promise.all([pages?.close(), up.close()]);
  }
}

const MOST_FIRST_MS = 30_000;

/** Tenants that are not live after half a minute: a tenant's hires are followed once its first reconcile is done. */
function describeFirsts({ dataDir, tenantsDir }: Places, stop: AbortSignal): Promise<string> {
  return lookInto(dataDir, async (store) => {
    const ids = (await currentTenants(store, tenantsDir)).map(({ tenantId }) => tenantId);
    for (const end = performance.now() + MOST_FIRST_MS; ; await pause(200, undefined, { signal: stop })) {
      const states = new Map((await listTenantStates(store)).map((row) => [row.tenant_id, row]));
      const waiting = ids.filter((id) => {
        const row = states.get(id);
        return row?.state !== 'paused' && (row?.baseline_done_at ?? null) === null;
      });
      if (waiting.length === 0) return '';
      if (performance.now() < end) continue;
      return waiting
        .map((id) => `not live yet     ${id}: its first reconcile is running (hirebridge check ${id})\n`)
        .join('');
    }
  }).catch((error: unknown) => {
    if (stop.aborted) return '';
    throw error;
  });
}

interface UpOptions extends Places {
  port?: number;
  host?: string;
  uiPort?: number;
  /** Receives the children's lines. */
  print?: (line: string) => void;
}

export interface Up {
  temporal: ProvidedTemporal;
  supervisor: Supervisor;
  /** Addresses reported by the children: `serve.webhooks`, `serve.health`, `worker.health`. */
  urls: ReadonlyMap<string, string>;
  /** Resolves when the worker has all it needs; rejects if a part does not stay up or a stop comes first. */
  ready: Promise<void>;
  /** Resolves at the stop signal; rejects if a part does not stay up. */
  untilStopped: Promise<void>;
  describe(): string;
  close(): Promise<void>;
}

/** Starts Temporal, receiver and worker on one machine. Invalid tenant files end it before anything starts. */
export async function startUp(options: UpOptions, stop: AbortSignal): Promise<Up> {
  const { dataDir, tenantsDir } = options;
  await assertFirstFolder(dataDir, tenantsDir, 'check');
  const temporal = await provideTemporal(options);
  const urls = new Map<string, string>();
  const supervisor = supervise(childrenOf(options, temporal.env), {
    print: options.print,
    onMessage: (name, message) => {
      const told = Announcement.safeParse(message);
      for (const [what, url] of Object.entries(told.data?.facts ?? {})) urls.set(`${name}.${what}`, url);
    },
  });
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  const untilStopped = Promise.race([stopped, supervisor.failed]);
  untilStopped.catch(() => undefined);
  let tenants: readonly string[] = [];
  const isReady = untilReady(urls, stop).then(async () => {
    tenants = stop.aborted ? [] : await describeTenants(options, urls);
  });
  const ready = Promise.race([isReady, supervisor.failed]);
  ready.catch(() => undefined);
  return {
    temporal,
    supervisor,
    urls,
    ready,
    untilStopped,
    describe: () => describeUp(temporal, urls, tenants),
    async close() {
      await supervisor.stop();
      await temporal.close();
    },
  };
}

/** Health pages use free ports: only this process asks them, and two `up` on one machine must not collide. */
function childrenOf(options: UpOptions, env: NodeJS.ProcessEnv): ChildSpec[] {
  const places = ['--tenants', options.tenantsDir, '--data', options.dataDir, '--health-port', '0'];
  const address = [
    ...(options.port === undefined ? [] : ['--port', String(options.port)]),
    ...(options.host === undefined ? [] : ['--host', options.host]),
  ];
  return [
    { name: 'serve', args: ['serve', ...places, ...address], env },
    { name: 'worker', args: ['worker', ...places], env },
  ];
}

/** Polls the health pages until both are ready, because readiness is what a load balancer would see. */
async function untilReady(urls: ReadonlyMap<string, string>, stop: AbortSignal): Promise<void> {
  for (;;) {
    const answers = await Promise.all([isReady(urls.get('serve.health')), isReady(urls.get('worker.health'))]);
    if (answers.every(Boolean) || stop.aborted) return;
    await pause(100, undefined, { signal: stop }).catch(() => undefined);
  }
}

async function isReady(healthUrl: string | undefined): Promise<boolean> {
  if (healthUrl === undefined) return false;
  const answer = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}

/** Lists each tenant's webhook address, and tenants whose files differ from what is applied. */
function describeTenants({ dataDir, tenantsDir }: Places, urls: ReadonlyMap<string, string>): Promise<string[]> {
  return lookInto(dataDir, async (store) => {
    const receiving = (await currentTenants(store, tenantsDir)).filter(({ webhooks }) => webhooks === 'on');
    const plan = await planApplication(store, tenantsDir, { secrets: 'skip' }).catch(() => undefined);
    const changed = (plan?.applications ?? []).map(({ tenantId }) => tenantId);
    const webhooks = urls.get('serve.webhooks') ?? '';
    return [
      ...receiving.map(({ tenantId }) => `webhooks         ${webhooks}/webhooks/${tenantId}`),
      ...(changed.length === 0 ? [] : [`not applied yet  ${changed.join(', ')} (hirebridge tenant apply)`]),
    ];
  });
}

function describeUp(temporal: ProvidedTemporal, urls: ReadonlyMap<string, string>, tenants: readonly string[]): string {
  return [
    `Temporal         ${temporal.uiUrl ?? temporal.address}`,
    ...tenants,
    `receiver health  ${urls.get('serve.health') ?? ''}/readyz`,
    `worker health    ${urls.get('worker.health') ?? ''}/readyz`,
    'Runs until Ctrl-C.',
  ].join('\n');
}

interface ProvidedTemporal {
  address: string;
  /** The server's web page, if it is our own server. */
  uiUrl: string | undefined;
  /** Environment that children need to reach the server. */
  env: NodeJS.ProcessEnv;
  /** How long it took to obtain the CLI; 0 if none was needed. */
  cliSeconds: number;
  close(): Promise<void>;
}

const log = createLogger('temporal');

/** Uses the Temporal of the environment or profile, otherwise its own dev server with data in the data directory. */
async function provideTemporal(options: UpOptions): Promise<ProvidedTemporal> {
  if (temporalSettings().address !== undefined) return useConfigured();
  await assertNoOtherTemporal(options.dataDir);
  const cli = await resolveTemporalCli({ onProgress: showCliProgress() });
  const server = await keepDevServer(options, cli.path);
  // For commands in other terminals.
  await writeFile(temporalAddressFile(options.dataDir), `${server.address}\n`);
  return { ...server, env: { TEMPORAL_ADDRESS: server.address }, cliSeconds: cli.seconds };
}

/** Asks the configured server first: a wrong address is then a single error instead of a child that keeps failing. */
async function useConfigured(): Promise<ProvidedTemporal> {
  const temporal = await connectTemporal();
  try {
    await checkSearchAttributes(temporal.connection, temporal.namespace);
  } finally {
    await temporal.close();
  }
  return { address: temporal.address, uiUrl: undefined, env: {}, cliSeconds: 0, close: async () => undefined };
}

/** Runs the dev server, and restarts it at the same address if it ends unexpectedly. */
async function keepDevServer({ dataDir, uiPort }: UpOptions, cliPath: string) {
  const files = { dbFile: join(dataDir, 'temporal.db'), logFile: join(dataDir, 'temporal.log') };
  const first = await startDevServer({ cliPath, ...files, ...(uiPort === undefined ? {} : { uiPort }) });
  const ports = { port: portOf(first.address), ...(first.uiUrl === undefined ? {} : { uiPort: portOf(first.uiUrl) }) };
  const stop = new AbortController();
  let current: DevServer | undefined = first;

  async function watch(): Promise<void> {
    while (current !== undefined) {
      const how = await current.ended;
      if (stop.signal.aborted) return;
      log.warn({ how }, 'Temporal ended, starting it again');
      current = await restart();
    }
  }
  async function restart(): Promise<DevServer | undefined> {
    for (let waitMs = 500; !stop.signal.aborted; waitMs = Math.min(waitMs * 2, 10_000)) {
      try {
        return await startDevServer({ cliPath, ...files, ...ports });
      } catch (err) {
        log.error({ err, waitMs }, 'Temporal does not start, trying again');
        await pause(waitMs, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
  const watching = watch();

  return {
    address: first.address,
    uiUrl: first.uiUrl,
    async close() {
      stop.abort();
      await current?.stop();
      await watching;
      await current?.stop();
      await rm(temporalAddressFile(dataDir), { force: true });
    },
  };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

interface UpConsole {
  /** Includes the token, unless it comes from a setting. */
  address: string;
  /** Rejects if it does not stay up. */
  failed: Promise<never>;
  close(): Promise<void>;
}

/**
 * Runs the console as a supervised process, once the store exists. Port and token are chosen here, so that the printed
 * address stays valid when the process restarts.
 */
export async function startUpConsole(
  { dataDir, tenantsDir }: Places,
  { port, env }: { port: number | undefined; env: NodeJS.ProcessEnv },
): Promise<UpConsole> {
  const config = readConfig();
  const at = port ?? (await freePortFrom(config.HIREBRIDGE_CONSOLE_PORT));
  const isOwn = config.HIREBRIDGE_CONSOLE_TOKEN === undefined;
  const token = randomBytes(32).toString('base64url');
  const secret = isOwn
    ? { HIREBRIDGE_CONSOLE_TOKEN: 'env:HIREBRIDGE_UP_CONSOLE_TOKEN', HIREBRIDGE_UP_CONSOLE_TOKEN: token }
    : {};
  const args = ['console', '--tenants', tenantsDir, '--data', dataDir, '--port', String(at)];
  const listening = Promise.withResolvers<string>();
  const supervisor = supervise([{ name: 'console', args, env: { ...env, ...secret } }], {
    onMessage: (_name, message) => {
      const url = Announcement.safeParse(message).data?.facts['console'];
      if (url !== undefined) listening.resolve(url);
    },
  });
  try {
    const url = await Promise.race([listening.promise, supervisor.failed]);
    const address = isOwn ? `${url}/?token=${token}` : url;
    return { address, failed: supervisor.failed, close: () => supervisor.stop() };
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

/** This port, or a free one if another program uses it: two `up` may run on one machine. */
async function freePortFrom(wanted: number): Promise<number> {
  if (wanted === 0) return freePort();
  return assertFree('127.0.0.1', wanted).then(
    () => wanted,
    () => freePort(),
  );
}

const ENDING_MS = 6_000;

/**
 * Two servers on one database file would destroy it, so no second one starts while the saved one answers. A server
 * whose parent was killed gets some seconds to end.
 */
async function assertNoOtherTemporal(dataDir: string): Promise<void> {
  const address = (await readFile(temporalAddressFile(dataDir), 'utf8').catch(() => '')).trim();
  if (address === '') return;
  for (const until = performance.now() + ENDING_MS; performance.now() < until; await pause(200)) {
    if (!(await answers(address))) return;
  }
  throw rejected(
    'DATA_IN_USE',
    `Another hirebridge runs with the data directory ${dataDir} (its Temporal answers at ${address}). ` +
      'Stop it, or choose another directory with --data.',
  );
}

function answers(address: string): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  const socket = connect(Number(address.slice(colon + 1)), address.slice(0, colon));
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
