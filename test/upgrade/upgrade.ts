import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { openDatabase } from '../../src/sql/open-database.ts';
import { startTraffic, type Traffic } from '../harness/hire-traffic.ts';
import { readStatus, takeApplicants } from '../harness/hiring.ts';
import { readWorkflows } from '../harness/histories.ts';
import { gatherEvidence, type Judged } from '../harness/judge-hires.ts';
import { sendDelivery } from '../harness/send-delivery.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { type Process, startWorld, until, type World } from '../harness/world.ts';
import { openVersion, type Version } from './open-version.ts';

export interface UpgradeOptions {
  temporalAddress: string;
  /** Entry file of the older version. */
  baseMain: string;
  storeUrl?: string;
  hires: number;
  /** Old deliveries in the inbox (Postgres). */
  rows?: number;
}

export interface Upgraded {
  judged: Judged;
  /** Hires in the store by state. */
  states: Partial<Record<string, number>>;
  /** What histories and logs tell of replays that failed and of activities that a worker does not have. */
  failures: string[];
  /** Workflow tasks and activities that each version's workers ended. */
  tasks: { base: number; current: number };
  /** Migrations that the older version does not know; those that it goes on with apart. */
  migrations: string[];
  widenings: string[];
  /**
   * What an older worker prints that is started on the migrated store. Undefined: it works, the newer version was alone
   * for a while, and then the older one, started anew, began the last hires and made the end of all.
   */
  olderSays?: string;
  /**
   * Webhooks sent all the time; the longest that one waited for its answer, before and from the first change on; and
   * the longest that the statement which stores them waited for a lock (Postgres), which no busy machine makes longer.
   */
  webhooks: { sent: number; refused: number; longestMs: { before: number; after: number }; lockedMs: number };
}

export interface Versions {
  base: Version;
  current: Version;
}

/**
 * A rolling upgrade: receivers and workers of both versions on one store and one Temporal, so many hires begun, one
 * worker of each version killed. Where the tables allow it, the newer version then works alone, and the older one takes
 * everything over from it. Then everybody's onboarding ends, and the hires with it.
 */
export async function upgrade(options: UpgradeOptions): Promise<Upgraded> {
  const { temporalAddress, storeUrl, hires, baseMain, rows = 0 } = options;
  const world = await startWorld({
    temporalAddress,
    jobs: 3,
    candidates: hires + 10,
    env: shortWaits,
    ...(storeUrl === undefined ? {} : { storeUrl }),
  });
  const versions = { base: openVersion(world, 'base', { main: baseMain }), current: openVersion(world, 'current') };
  const finish = { may: false };
  try {
    const old = await versions.base.receiver();
    await world.control.act('setWebhook', { url: old.webhookUrl });
    const [doomed, steady] = await Promise.all([versions.base.worker(), versions.base.worker()]);
    await untilBaseline(world);
    await fillInbox(world, rows);
    const before = await migrationsOf(world);
    const sending = sendSteadily(world, old.webhookUrl);
    const traffic = startTraffic(world, await takeApplicants(world, hires), { mayFinish: () => finish.may });
    await traffic.keep(Math.ceil(hires / 4));
    sending.mark();
    const { webhookUrl, process: receiver } = await versions.current.receiver();
    await sending.to(old.webhookUrl, webhookUrl);
    const first = await versions.current.worker();
    // The older receiver goes on in tables that the newer version changed.
    await traffic.keep(Math.ceil(hires / 2));
    await untilEnrolled(world, Math.ceil(hires / 2));
    await world.control.act('setWebhook', { url: webhookUrl });
    await traffic.keep(Math.ceil((hires * 3) / 4));
    await doomed.kill();
    await first.kill();
    const second = await versions.current.worker();
    const older = await startOlder(versions.base);
    if (typeof older !== 'string') {
      // The newer version alone begins some hires, and then the older one goes on with them, started anew.
      await sending.to(webhookUrl);
      await Promise.all([old.process, steady, older].map((one) => one.stop()));
      await traffic.keep(Math.ceil((hires * 7) / 8));
      await untilEnrolled(world, Math.ceil((hires * 7) / 8));
      const [again] = await Promise.all([versions.base.receiver(), versions.base.worker()]);
      await world.control.act('setWebhook', { url: again.webhookUrl });
      await sending.to(again.webhookUrl);
      await Promise.all([receiver, second].map((one) => one.stop()));
    }
    await traffic.keep(hires);
    finish.may = true;
    await untilDone(world, traffic, hires);
    const webhooks = await sending.end();
    const [migrations = [], widenings = []] = (await migrationsOf(world)).map((names, place) =>
      names.filter((name) => !before[place]?.includes(name)),
    );
    const judged = await judge(world, temporalAddress, traffic, versions);
    return { ...judged, migrations, widenings, ...(typeof older === 'string' ? { olderSays: older } : {}), webhooks };
  } finally {
    await versions.base.close();
    await versions.current.close();
    await world.close();
  }
}

/** A worker that comes up, or its last words. */
async function startOlder(base: Version): Promise<Process | string> {
  try {
    return await base.worker();
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return said.replace(/^worker ended with \S+: /, '').trim();
  }
}

/** By the store: a command of this version refuses to look at an older one's tables. */
export async function untilBaseline(world: World): Promise<void> {
  await until('the baseline is complete', async () => {
    const rows = await ask<{ done: unknown }>(world, 'select baseline_done_at as done from tenants');
    return rows.length > 0 && rows.every(({ done }) => done !== null);
  });
}

/** So long do both versions work beside each other. */
async function untilEnrolled(world: World, hires: number): Promise<void> {
  const enrolled = async () => (await world.effects('enrolment')).length >= hires;
  await until(`${hires} enrolled`, enrolled, { timeoutMs: 600_000 });
}

/** Narrowing ones, and those that only widen. */
async function migrationsOf(world: World): Promise<[string[], string[]]> {
  const namesIn = async (table: string): Promise<string[]> => {
    const rows = await ask<{ name: string }>(world, `select name from ${table} order by name`).catch(() => []);
    return rows.map(({ name }) => name);
  };
  return [await namesIn('kysely_migration'), await namesIn('kysely_widening')];
}

const FILLED_AT_ONCE = 20_000;

/** Deliveries of the last six days, done long ago, of fifty other tenants. */
async function fillInbox(world: World, rows: number): Promise<void> {
  for (let from = 1; from <= rows; from += FILLED_AT_ONCE)
    await ask(
      world,
      `insert into inbox (tenant_id, body_hash, event, ids, body, state, received_at, failures, due_at, done_at)
      select 'old-' || n % 50, md5(n::text) || md5(n::text), 'candidate.updated', '{}', rpad('{', 600, md5(n::text)),
        'relayed', at, 0, at, at
      from (select n, ((extract(epoch from now()) - random() * 500000) * 1000)::bigint as at
        from generate_series(${from}, ${Math.min(rows, from + FILLED_AT_ONCE - 1)}) as n) as old`,
    );
}

const EVERY_MS = 50;

/** Twenty correct webhooks a second, each timed. */
function sendSteadily(world: World, url: string) {
  const locks = watchLocks(world.storeUrl);
  const longestMs = { before: 0, after: 0 };
  let [sent, refused, ended, when] = [0, 0, false, 'before' as keyof typeof longestMs];
  const answers = new Set<Promise<void>>();
  const urls = [url];
  const send = async (n: number): Promise<void> => {
    const body = JSON.stringify({
      event: 'candidate.updated',
      timestamp: new Date().toISOString(),
      data: { candidateIds: [n] },
    });
    const begin = performance.now();
    const status = await sendDelivery(urls[n % urls.length] ?? url, {
      body,
      key: world.webhookKey,
      event: 'candidate.updated',
    });
    longestMs[when] = Math.round(Math.max(longestMs[when], performance.now() - begin));
    if (status !== 200) refused += 1;
  };
  const sending = (async () => {
    for (; !ended; await pause(EVERY_MS)) {
      const answer = send((sent += 1)).finally(() => answers.delete(answer));
      answers.add(answer);
    }
  })();
  return {
    /** From here on the tables may change. */
    mark: () => void (when = 'after'),
    /** Receivers that share them from then on; whoever had them before has answered when this resolves. */
    async to(...others: string[]) {
      urls.splice(0, urls.length, ...others);
      await Promise.all(answers);
    },
    async end() {
      ended = true;
      await sending;
      await Promise.all(answers);
      return { sent, refused, longestMs, lockedMs: await locks.end() };
    },
  };
}

async function ask<T>({ storeUrl }: World, statement: string): Promise<T[]> {
  const { kysely, close } = openDatabase(storeUrl);
  try {
    return (await sql.raw<T>(statement).execute(kysely)).rows;
  } finally {
    await close();
  }
}

const LOOK_MS = 20;

/** How long the receivers' statement waits for locks of others. */
function watchLocks(storeUrl: string): { end(): Promise<number> } {
  if (!storeUrl.startsWith('postgres')) return { end: async () => 0 };
  let [longest, ended] = [0, false];
  const { kysely, close } = openDatabase<never>(storeUrl, { poolSize: 1 });
  const watching = (async () => {
    for (; !ended; await pause(LOOK_MS)) {
      const { rows } = await sql<{ ms: number | null }>`
        select max(extract(epoch from clock_timestamp() - query_start) * 1000)::float as ms from pg_stat_activity
        where wait_event_type = 'Lock' and query ilike '%insert into inbox%' and datname = current_database()`.execute(
        kysely,
      );
      longest = Math.max(longest, rows[0]?.ms ?? 0);
    }
  })();
  return {
    async end() {
      ended = true;
      await watching;
      await close();
      return Math.round(longest);
    },
  };
}

export async function untilDone(world: World, traffic: Traffic, hires: number): Promise<void> {
  const patient = { timeoutMs: 600_000, everyMs: 1_000 };
  await until('every Employee ID', async () => (await traffic.inFlight()).length === 0, patient);
  await until('every hire is done', async () => (await readStatus(world)).hires['done'] === hires, {
    ...patient,
    timeoutMs: 120_000,
  }).catch(() => undefined);
  await traffic.close();
}

export async function judge(world: World, address: string, traffic: Traffic, { base, current }: Versions) {
  const judged = (await gatherEvidence(world)).of(traffic.hired);
  const { hires: states } = await readStatus(world);
  const [installation] = await ask<{ id: string }>(world, 'select id from installation');
  const id = installation?.id ?? '';
  const histories = (await readWorkflows(address, id)).map(({ history }) => history).join('\n');
  const logs = (await Promise.all([base.logs(), current.logs()])).join('\n');
  const endedBy = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + tasksOf(`${id}@${pid}`), 0);
  // Not what a worker's process signals: its relay does that whatever version it is.
  const tasksOf = (identity: string): number =>
    [
      ...histories.matchAll(
        /(?:WorkflowTask|ActivityTask)StartedEventAttributes":\s*\{[^}]*?"identity":\s*"([^"]+)"/gi,
      ),
    ].filter(([, by]) => by === identity).length;
  return {
    judged,
    states,
    failures: [...new Set([...`${histories}\n${logs}`.matchAll(FAILURES)].map(([found]) => found))],
    tasks: { base: endedBy(base.workerPids()), current: endedBy(current.workerPids()) },
  };
}

/** As Temporal and its SDK name them. */
const FAILURES = /DeterminismViolation\w*|NON_DETERMINISTIC\w*|[Nn]ondeterminis\w+|is not registered on this Worker/g;
