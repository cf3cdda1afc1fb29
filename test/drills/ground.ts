import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asAdmin, newDatabase, type TestPostgres } from '../../src/counterparts/start-postgres.ts';
import { migrateStore } from '../../src/store/migrate.ts';
import { type DevServer, startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { type FaultProxy, startFaultProxy } from '../harness/fault-proxy.ts';
import { startTraffic, type Traffic } from '../harness/hire-traffic.ts';
import { takeApplicants, untilBaseline } from '../harness/hiring.ts';
import type { StartOptions } from '../harness/run-product.ts';
import { type Process, startWorld, type World } from '../harness/world.ts';
import { startDurable } from './cluster-pair.ts';

export interface GroundOptions {
  /** Temporal's CLI. */
  cliPath: string;
  /** Where the store's server has its files. */
  parent?: string;
  /** Settings of that server. */
  settings?: Readonly<Record<string, string>>;
  /** Environment of every process of the product. */
  env?: NodeJS.ProcessEnv;
  candidates?: number;
  /** Edits the tenant's file before anything starts. */
  edit?: (text: string) => string;
  /** How the worker is started. */
  how?: StartOptions;
}

/** What the fleet stands on, each part behind something that can take it away; and a fleet with one tenant on it. */
export interface Ground {
  world: World;
  /** Hires that come and go all the time. */
  traffic: Traffic;
  store: {
    proxy: FaultProxy;
    /** Past the proxy. */
    url(): string;
    server(): TestPostgres;
    /** Another server has the store from now on. */
    moveTo(server: TestPostgres): Promise<void>;
  };
  temporal: {
    proxy: FaultProxy;
    /** By SIGKILL. */
    kill(): Promise<void>;
    /** Comes back with what it knew, or with nothing at all. */
    start(options?: { empty: boolean }): Promise<void>;
  };
  worker(): Process;
  receiver(): Process;
  /** A new worker in place of the one before, which is killed. */
  replaceWorker(env?: NodeJS.ProcessEnv, how?: StartOptions): Promise<void>;
  /** While false, nobody finishes an onboarding. */
  mayFinish(may: boolean): void;
  close(): Promise<void>;
}

export async function buildGround(options: GroundOptions): Promise<Ground> {
  const { cliPath, parent, settings = {}, env = {}, candidates = 600, edit, how } = options;
  let server = await startDurable(settings, parent);
  const database = await newDatabase(server.url);
  const urlOf = (port: string | number): string => Object.assign(new URL(database), { port: `${port}` }).href;
  const proxy = await startFaultProxy(Number(new URL(server.url).port));
  const roles = { worker: 'hb_worker', receiver: 'hb_serve' };
  for (const role of Object.values(roles)) await asAdmin(database, `create role ${role} login`);
  await migrateStore(database, roles, false);
  /** The address of the store for a process of this role: nobody owns the tables. */
  const storeOf = (role: string) => ({
    HIREBRIDGE_STORE_URL: Object.assign(new URL(urlOf(proxy.port)), { username: role }).href,
  });
  const temporal = await startTemporal(cliPath);
  const world = await startWorld({
    temporalAddress: `127.0.0.1:${temporal.proxy.port}`,
    storeUrl: urlOf(proxy.port),
    jobs: 3,
    candidates,
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 15s }\n  cancel: { grace: 2s }',
    env: { ...env, ...storeOf(roles.worker) },
  });
  const file = join(world.tenantsDir, `${world.tenant}.yaml`);
  if (edit !== undefined) await writeFile(file, edit(await readFile(file, 'utf8')));
  let finish = true;
  let [receiver, worker] = await Promise.all([
    world.startReceiver(storeOf(roles.receiver)),
    world.startWorker({}, how),
  ]);
  await untilBaseline(world);
  const traffic = startTraffic(world, await takeApplicants(world, candidates - 20), { mayFinish: () => finish });
  return {
    world,
    traffic,
    store: {
      proxy,
      url: () => urlOf(new URL(server.url).port),
      server: () => server,
      async moveTo(next) {
        const before = server;
        server = next;
        proxy.leadTo(Number(new URL(next.url).port));
        await before.stop();
      },
    },
    temporal,
    worker: () => worker,
    receiver: () => receiver,
    async replaceWorker(more, other = how) {
      await worker.kill();
      worker = await world.startWorker(more, other);
    },
    mayFinish: (may) => void (finish = may),
    async close() {
      await traffic.close().catch(() => undefined);
      await world.close();
      await Promise.all([proxy.close(), temporal.close()]);
      await server.stop();
    },
  };
}

async function startTemporal(cliPath: string) {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-temporal-'));
  const dbFile = join(folder, 'temporal.db');
  const begin = (): Promise<DevServer> => startDevServer({ cliPath, headless: true, dbFile });
  let server: DevServer | undefined = await begin();
  const portOf = (address: string): number => Number(address.split(':')[1]);
  const proxy = await startFaultProxy(portOf(server.address));
  async function kill(): Promise<void> {
    if (server === undefined) return;
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
    server = undefined;
    proxy.refuse();
  }
  return {
    proxy,
    kill,
    async start({ empty } = { empty: false }) {
      if (empty) await Promise.all(['', '-wal', '-shm'].map((end) => rm(`${dbFile}${end}`, { force: true })));
      server = await begin();
      proxy.leadTo(portOf(server.address));
      proxy.speak();
    },
    async close() {
      await server?.stop();
      await proxy.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Every process of a server stands still until it is let go: what a machine does that is paused. */
export async function pauseServer(server: TestPostgres): Promise<() => void> {
  const pids = [server.pid(), ...(await childrenOf(server.pid()))];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  // The name of a program may hold spaces and brackets: the parent stands second behind the last bracket.
  const parents = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  return pids.map(Number).filter((_pid, place) => parents[place] === parent);
}
