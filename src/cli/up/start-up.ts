import { setTimeout as pause } from 'node:timers/promises';
import { type Places, storeExists, storeUrl } from '../../config.ts';
import { openStore } from '../../store/open-store.ts';
import { currentTenants } from '../../tenants/current-tenants.ts';
import { loadTenants } from '../../tenants/load-tenants.ts';
import { planApplication } from '../../tenants/plan-application.ts';
import { Announcement } from '../announcement.ts';
import { type ChildSpec, type Supervisor, supervise } from '../supervise.ts';
import { type ProvidedTemporal, provideTemporal } from './provide-temporal.ts';

export interface UpOptions extends Places {
  port?: number;
  host?: string;
  uiPort?: number;
  /** Receives the children's lines. */
  print?: (line: string) => void;
}

export interface Up {
  temporal: ProvidedTemporal;
  supervisor: Supervisor;
  /** Addresses as the children told them: `serve.webhooks`, `serve.health`, `worker.health`. */
  urls: ReadonlyMap<string, string>;
  /** Resolves when the worker has all it needs; rejects when a part does not stay up or a stop comes first. */
  ready: Promise<void>;
  /** Resolves at the stop signal; rejects when a part does not stay up. */
  untilStopped: Promise<void>;
  describe(): string;
  close(): Promise<void>;
}

/** Temporal, receiver and worker of one machine. Invalid tenant files end it before anything starts. */
export async function startUp(options: UpOptions, stop: AbortSignal): Promise<Up> {
  const { dataDir, tenantsDir } = options;
  if (!storeExists(dataDir)) await loadTenants(tenantsDir);
  const temporal = await provideTemporal({
    dataDir,
    ...(options.uiPort === undefined ? {} : { uiPort: options.uiPort }),
  });
  const urls = new Map<string, string>();
  const supervisor = supervise(childrenOf(options, temporal.env), {
    ...(options.print === undefined ? {} : { print: options.print }),
    onMessage: (name, message) => noteUrls(urls, name, message),
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

/** Health pages take free ports: only this process asks them, and two `up` on one machine must not meet. */
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

function noteUrls(urls: Map<string, string>, name: string, message: unknown): void {
  const told = Announcement.safeParse(message);
  for (const [what, url] of Object.entries(told.data?.facts ?? {})) urls.set(`${name}.${what}`, url);
}

/** Asks the health pages until both are ready. Polling, because readiness is what a load balancer would see. */
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

/** Where each tenant's webhooks arrive, and whose files differ from what is applied. */
async function describeTenants(
  { dataDir, tenantsDir }: UpOptions,
  urls: ReadonlyMap<string, string>,
): Promise<string[]> {
  const store = await openStore(storeUrl(dataDir), { migrate: 'never', poolSize: 1 });
  try {
    const receiving = (await currentTenants(store, tenantsDir)).filter(({ webhooks }) => webhooks === 'on');
    const plan = await planApplication(store, tenantsDir, { secrets: 'skip' }).catch(() => undefined);
    const changed = (plan?.applications ?? []).map(({ tenantId }) => tenantId);
    const webhooks = urls.get('serve.webhooks') ?? '';
    return [
      ...receiving.map(({ tenantId }) => `webhooks         ${webhooks}/webhooks/${tenantId}`),
      ...(changed.length === 0 ? [] : [`not applied yet  ${changed.join(', ')} (hirebridge tenant apply)`]),
    ];
  } finally {
    await store.close();
  }
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
