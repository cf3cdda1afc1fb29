import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { FaultProxy } from '../harness/fault-proxy.ts';
import { forgottenSession } from '../harness/forgotten-session.ts';
import { takeApplicants, untilBaseline } from '../harness/hiring.ts';
import { joinWorld } from '../harness/join-world.ts';
import { readTenant } from '../harness/read-store.ts';
import { until } from '../harness/until.ts';
import { startFileServer } from '../hris/sftp-server.ts';
import { addStandby, asking, promote } from './cluster-pair.ts';
import { type Ground, pauseServer } from './ground.ts';
import { type Drill, Impossible } from './play-drill.ts';
import { mountDisk, startNames } from './small-disk.ts';

const MINUTE_MS = 60_000;
/** The words of a command whose store is away. */
const STORE_AWAY = /STORE_UNREACHABLE|DATABASE_SILENT/;

async function tablesOf(url: string): Promise<string[]> {
  const { rows } = await asking(url, (client) =>
    client.query<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`),
  );
  return rows.map(({ name }) => name);
}

/** Resolves as a statement like this goes on to the database, before its answer can come back. */
function passes(proxy: FaultProxy, statement: RegExp): Promise<void> {
  return new Promise((resolve) =>
    proxy.watch((text) => {
      const isIt = statement.test(text);
      if (isIt) resolve();
      return isIt;
    }),
  );
}

/** Not of `for update skip locked` and `on conflict do update set`. */
const WRITE = /\b(insert into|update|delete from) "?(?!(?:skip|set|on)\b)([a-z_]+)"?/g;

/** Every kind of write that a fleet at work makes, as drills of a failover in its middle. */
export async function writeFailovers(ground: Ground, watchMs: number): Promise<Record<string, Drill>> {
  const kinds = new Set<string>();
  ground.store.proxy.watch((text) => {
    for (const [, verb, table] of text.matchAll(WRITE)) kinds.add(`${verb} ${table}`);
    return false;
  });
  const { traffic } = ground;
  await traffic.keep(3);
  await pause(watchMs / 2);
  // Some statements come once in the life of a worker.
  await ground.replaceWorker();
  await pause(watchMs / 2);
  return Object.fromEntries(
    [...kinds].toSorted().flatMap((kind) => {
      const [, verb, table] = /^(.*) (\w+)$/.exec(kind) ?? [];
      const statement = new RegExp(`\\b${verb} "?${table}\\b`);
      return (['reset', 'silence'] as const).map((how) => [`${kind}, ${how}`, failover(statement, how)]);
    }),
  );
}

/** A second server takes the first one's place in the middle of a statement, whose answer never comes. */
function failover(statement: RegExp, how: 'reset' | 'silence'): Drill {
  return {
    async harm(ground) {
      const { store } = ground;
      const primary = store.server();
      const standby = await addStandby(primary);
      const passing = passes(store.proxy, statement).then(() => true);
      let came = await Promise.race([passing, pause(MINUTE_MS / 4, false)]);
      if (!came) {
        await ground.replaceWorker();
        const fieldLabel = `Newer than ${new Date().toISOString()}`;
        await ground.world.control.act('createCustomField', { entityType: 'job', fieldLabel, fieldType: 'text' });
        came = await Promise.race([passing, pause(MINUTE_MS, false)]);
      }
      if (how === 'silence') store.proxy.blackHole();
      process.kill(primary.pid(), 'SIGKILL');
      await promote(standby);
      await store.moveTo(standby);
      if (how === 'reset') store.proxy.cut();
      // The fleet has moved, so that the next one can be played.
      if (!came) throw new Impossible(`no statement like ${statement.source} came within a minute of a worker's start`);
    },
  };
}

/** Temporal comes back with nothing it knew, once this statement has reached the store. */
function emptied(statement: RegExp, lastsMs = 5_000): Drill {
  return {
    async harm({ store, temporal }) {
      await passes(store.proxy, statement);
      await temporal.kill();
      return () => temporal.start({ empty: true });
    },
    lastsMs,
    worker: 'not ready',
    receiver: 'ready',
    status: /Temporal/,
  };
}

/** As many sessions as the server takes, and none left for anybody else. */
async function takeAllSessions(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      return taken;
    }
    taken.push(client);
  }
}

const HOUR_S = 3_600;
/** Where Debian's package `libfaketime` puts it. */
const FAKETIME = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu']
  .map((folder) => `${folder}/faketime/libfaketime.so.1`)
  .find((file) => existsSync(file));

/** The worker's clock moves by so many seconds, one after the other; the database's does not. */
function clock(...moves: readonly number[]): Drill {
  const eachMs = 8_000;
  return {
    async harm(ground) {
      if (FAKETIME === undefined) throw new Impossible('libfaketime is not installed');
      const file = join(ground.world.dir, 'clock');
      const move = (seconds: number): Promise<void> => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
      await move(0);
      await ground.replaceWorker({
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        FAKETIME_CACHE_DURATION: '1',
      });
      for (const seconds of moves) {
        await move(seconds);
        await pause(eachMs);
      }
      return () => move(0);
    },
    worker: 'ready',
    receiver: 'ready',
    status: /The worker has been running since/,
  };
}

export const drills: Record<string, Drill> = {
  'database-black-hole': {
    harm: async ({ store }) => store.proxy.blackHole(),
    receiver: 'ready',
    worker: 'ready',
  },
  'database-silent': {
    async harm({ store }) {
      store.proxy.fallSilent();
      return () => store.proxy.speak();
    },
    lastsMs: MINUTE_MS,
    worker: 'not ready',
    receiver: 'not ready',
    status: STORE_AWAY,
  },
  'forgotten-transaction': {
    async harm(ground) {
      const { store, world } = ground;
      const reading = (await tablesOf(store.url())).map((name) => `lock table ${name} in access share mode`);
      const session = await forgottenSession(store.url(), ...reading, 'select * from installation for update');
      await ground.replaceWorker();
      for (const command of ['freeze', 'thaw']) {
        const { code, stderr } = await world.cli([command]);
        if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`);
      }
      return () => session.end();
    },
    lastsMs: MINUTE_MS,
    worker: 'ready',
    receiver: 'ready',
    status: /The worker has been running since/,
  },
  'failover-reset': failover(/insert into "intents"/, 'reset'),
  'failover-silent': failover(/update "hires"/, 'silence'),
  'primary-paused': {
    harm: async ({ store }) => pauseServer(store.server()),
    lastsMs: MINUTE_MS,
    worker: 'not ready',
    receiver: 'not ready',
    status: STORE_AWAY,
  },
  'sessions-exhausted': {
    async harm({ store }) {
      const own = new pg.Client({ connectionString: store.url() });
      own.on('error', () => undefined);
      await own.connect();
      const taken = await takeAllSessions(store.server().url);
      await own.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'hirebridge'`);
      const more = await takeAllSessions(store.server().url);
      return async () => {
        for (const client of [own, ...taken, ...more]) await client.end();
      };
    },
    lastsMs: MINUTE_MS,
    worker: 'not ready',
    receiver: 'not ready',
    status: STORE_AWAY,
  },
  'temporal-down': {
    async harm({ temporal }) {
      await temporal.kill();
      return () => temporal.start();
    },
    lastsMs: 10 * MINUTE_MS,
    worker: 'not ready',
    receiver: 'ready',
    status: /Temporal/,
  },
  'temporal-silent': {
    async harm({ temporal }) {
      temporal.proxy.fallSilent();
      return () => temporal.proxy.speak();
    },
    lastsMs: MINUTE_MS,
    worker: 'not ready',
    receiver: 'ready',
    status: /Temporal/,
  },
  'temporal-emptied-before-enrolment': emptied(/insert into "intents"/),
  'temporal-emptied-in-onboarding': {
    ...emptied(/./),
    async harm(ground) {
      ground.mayFinish(false);
      await until('hires wait for their onboarding', () => waitsForOnboarding(ground));
      await ground.temporal.kill();
      return async () => {
        await ground.temporal.start({ empty: true });
        ground.mayFinish(true);
      };
    },
  },
  'clock-an-hour': clock(HOUR_S, 0, -HOUR_S),
  'clock-a-day': clock(24 * HOUR_S, 0, -24 * HOUR_S),
  'disk-full-store': (() => {
    let disk: Awaited<ReturnType<typeof mountDisk>> | undefined;
    return {
      async ground() {
        const own = await mountDisk(220);
        disk = own;
        return { options: { parent: own.path, settings: SMALL_WAL }, close: own.close };
      },
      async harm({ store }) {
        await disk?.fill();
        return async () => {
          await disk?.empty();
          // It may have given up: its host starts it again.
          if (!isAlive(store.server().pid())) await store.server().restart();
        };
      },
      // What still finds room in a page is written, so each says what its own last write came to.
      lastsMs: MINUTE_MS,
      status: /The worker has been running since/,
    } satisfies Drill;
  })(),
  'disk-full-log': {
    async harm(ground) {
      const full = openSync('/dev/full', 'w');
      await ground.replaceWorker({ LOG_LEVEL: 'debug' }, { log: full });
      return () => closeSync(full);
    },
    lastsMs: MINUTE_MS / 2,
    worker: 'ready',
    receiver: 'ready',
    status: /The worker has been running since/,
  },
  'disk-full-temp': (() => {
    let disk: Awaited<ReturnType<typeof mountDisk>> | undefined;
    return {
      async ground() {
        const own = await mountDisk(8);
        disk = own;
        return { options: {}, close: own.close };
      },
      async harm(ground) {
        await disk?.fill();
        await ground.replaceWorker({ TMPDIR: disk?.path });
      },
      lastsMs: MINUTE_MS / 2,
      worker: 'ready',
      receiver: 'ready',
      status: /The worker has been running since/,
    } satisfies Drill;
  })(),
  'names-silent': (() => {
    let names: Awaited<ReturnType<typeof startNames>> | undefined;
    return {
      async ground() {
        const own = await startNames();
        names = own;
        return {
          options: {
            how: { via: own.via },
            edit: (text: string) => text.replace(/(baseUrl: http:\/\/)127\.0\.0\.1/, `$1${own.host}`),
          },
          close: own.close,
        };
      },
      async harm(ground) {
        names?.fallSilent();
        // What is connected already needs no name.
        await ground.replaceWorker();
        return () => names?.speak();
      },
      lastsMs: MINUTE_MS,
      worker: 'ready',
      receiver: 'ready',
      status: /The worker has been running since/,
    } satisfies Drill;
  })(),
  'one-name-for-two-systems': {
    async harm({ world }) {
      const text = await readFile(join(world.tenantsDir, `${world.tenant}.yaml`), 'utf8');
      const other = join(world.tenantsDir, 'globex.yaml');
      const elsewhere = text
        .replace(`tenant: ${world.tenant}`, 'tenant: globex')
        .replace(/sqlite:[^"\n]*/, `sqlite:${join(world.dir, 'other.db')}`);
      await writeFile(other, elsewhere);
      const { code, stderr, stdout } = await world.cli(['tenant', 'apply', '--yes', '--unchecked']);
      await rm(other);
      if (code !== 2 || !/acme-hr/.test(`${stderr}${stdout}`))
        throw new Error(`two HR systems under one name were applied (${code}): ${stdout}${stderr}`);
    },
    worker: 'ready',
    receiver: 'ready',
  },
  'sftp-without-end': {
    async harm({ world, worker, temporal }) {
      // It goes on for ever behind what the list claims, which is not too long to be read.
      const server = await startFileServer({ 'rosters/one.csv': { claims: 60_000_000 } }, { hasFolders: true });
      const { privateKey, ...address } = server.options;
      const joined = await joinWorld(world, {
        temporalAddress: `127.0.0.1:${temporal.proxy.port}`,
        tenant: 'papers',
        writeBack: 'customField: "1"',
        policies: 'onboarding: skip\n  reconcile: { every: 15s }',
        otherHris: {
          settings: { kind: 'sftp', ...address, privateKey: 'file:secrets/sftp.key' },
          env: {},
          employees: async () => [],
        } as never,
        secrets: { 'sftp.key': privateKey },
      });
      await untilBaseline(joined);
      const before = await residentMegabytes(worker().child.pid);
      const people = await takeApplicants(joined, 3);
      await joined.control.act('move', {
        jobCandidateIds: people.map(({ jobCandidateId }) => jobCandidateId),
        stageType: 'HIRED',
      });
      await until('it is given up', async () => (await readTenant(world.storeUrl, 'papers')).holds.length > 0);
      return async () => {
        const grown = (await residentMegabytes(worker().child.pid)) - before;
        process.stderr.write(
          `${Math.round(server.sent() / 1e6)} MB came, the worker grew by ${Math.round(grown)} MB\n`,
        );
        if (grown > 400) throw new Error(`the worker grew by ${Math.round(grown)} MB`);
        if (server.sent() < 1e6) throw new Error('the file was not read');
        await joined.close();
        server.close();
      };
    },
    lastsMs: MINUTE_MS,
    worker: 'ready',
    receiver: 'ready',
    status: /papers/,
  },
  'unsigned-sockets': {
    async harm({ world }) {
      const { hostname, port, pathname } = new URL(world.webhookUrl);
      const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname));
      for (const socket of sockets) {
        socket.on('error', () => undefined);
        socket.write(
          `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n{`,
        );
      }
      const trickle = setInterval(() => sockets.forEach((socket) => socket.write(' ')), 500);
      return () => {
        clearInterval(trickle);
        for (const socket of sockets) socket.destroy();
      };
    },
    lastsMs: MINUTE_MS / 2,
    worker: 'ready',
    receiver: 'ready',
  },
  'temporal-emptied-after-create': emptied(/update "hires" set "step" = \$\d+, "employee_id"/),
};

/** So that little is kept that could still be written on. */
const SMALL_WAL = { wal_keep_size: '0', max_wal_size: '32MB', min_wal_size: '32MB' };

async function residentMegabytes(pid = 0): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function waitsForOnboarding({ traffic, store }: Ground): Promise<boolean> {
  const { rows } = await asking(store.url(), (client) =>
    client.query(`select 1 from hires where state = 'open' and onboarding_candidate_id is not null`),
  );
  return rows.length >= (await traffic.inFlight()).length;
}
