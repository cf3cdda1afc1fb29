import pg from 'pg';
import { until } from '../harness/until.ts';
import { addStandby, asking, promote } from './cluster-pair.ts';
import { type Ground, pauseServer } from './ground.ts';
import type { Drill } from './play-drill.ts';

const MINUTE_MS = 60_000;
/** The words of a command whose store is away. */
const STORE_AWAY = /STORE_UNREACHABLE|DATABASE_SILENT/;

/** A session that did something and never came back. Gives what ends it. */
async function forgottenSession(url: string, ...statements: string[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  for (const statement of statements) await client.query(statement);
  return () => client.end();
}

async function tablesOf(url: string): Promise<string[]> {
  const { rows } = await asking(url, (client) =>
    client.query<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`),
  );
  return rows.map(({ name }) => name);
}

/** A second server takes the first one's place in the middle of a statement, whose answer never comes. */
function failover(statement: RegExp, how: 'reset' | 'silence'): Drill {
  return {
    async harm({ store }) {
      const primary = store.server();
      const standby = await addStandby(primary);
      await new Promise<void>((resolve) => store.proxy.watch(statement, resolve));
      if (how === 'silence') store.proxy.blackHole();
      process.kill(primary.pid(), 'SIGKILL');
      await promote(standby);
      await store.moveTo(standby);
      if (how === 'reset') store.proxy.cut();
    },
  };
}

/** Temporal comes back with nothing it knew, once this statement has reached the store. */
function emptied(statement: RegExp, lastsMs = 5_000): Drill {
  return {
    async harm({ store, temporal }) {
      await new Promise<void>((resolve) => store.proxy.watch(statement, resolve));
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
      const end = await forgottenSession(store.url(), ...reading, 'select * from installation for update');
      await ground.replaceWorker();
      for (const command of ['freeze', 'thaw']) {
        const { code, stderr } = await world.cli([command, '--all']);
        if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`);
      }
      return end;
    },
    lastsMs: MINUTE_MS,
    worker: 'ready',
    receiver: 'ready',
    status: /The worker runs since/,
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
  'temporal-emptied-after-create': emptied(/update "hires" set "step" = \$\d+, "employee_id"/),
};

async function waitsForOnboarding({ traffic, store }: Ground): Promise<boolean> {
  const { rows } = await asking(store.url(), (client) =>
    client.query(`select 1 from hires where state = 'open' and onboarding_candidate_id is not null`),
  );
  return rows.length >= (await traffic.inFlight()).length;
}
