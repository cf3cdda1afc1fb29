import { sql } from 'kysely';
import { openDatabase } from '../../src/sql/open-database.ts';
import { startTraffic, type Traffic } from '../harness/hire-traffic.ts';
import { readStatus, takeApplicants } from '../harness/hiring.ts';
import { readWorkflows } from '../harness/histories.ts';
import { gatherEvidence, type Judged } from '../harness/judge-hires.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { startWorld, until, type World } from '../harness/world.ts';
import { openVersion, type Version } from './open-version.ts';

export interface UpgradeOptions {
  temporalAddress: string;
  /** Entry file of the older version. */
  baseMain: string;
  storeUrl?: string;
  hires: number;
}

export interface Upgraded {
  judged: Judged;
  /** Hires in the store by state. */
  states: Partial<Record<string, number>>;
  /** What histories and logs tell of replays that failed and of activities that a worker does not have. */
  failures: string[];
  /** Workflow tasks and activities that each version's workers ended. */
  tasks: { base: number; current: number };
  /** Migrations that the older version does not know. */
  migrations: string[];
  /** What an older worker prints that is started on the migrated store; undefined: it works. */
  olderSays: string | undefined;
}

interface Versions {
  base: Version;
  current: Version;
}

/**
 * A rolling upgrade: receivers and workers of both versions on one store and one Temporal, so many hires begun, one
 * worker of each version killed; then everybody's onboarding ends, and the hires with it.
 */
export async function upgrade(options: UpgradeOptions): Promise<Upgraded> {
  const { temporalAddress, storeUrl, hires, baseMain } = options;
  const world = await startWorld({
    temporalAddress,
    jobs: 3,
    candidates: hires + 10,
    env: shortWaits,
    ...(storeUrl === undefined ? {} : { storeUrl }),
  });
  const versions = { base: openVersion(world, 'base', baseMain), current: openVersion(world, 'current') };
  const finish = { may: false };
  try {
    const old = await versions.base.receiver();
    await world.control.act('setWebhook', { url: old.webhookUrl });
    const [doomed] = await Promise.all([versions.base.worker(), versions.base.worker()]);
    await untilBaseline(world);
    const before = await migrationsOf(world);
    const traffic = startTraffic(world, await takeApplicants(world, hires), { mayFinish: () => finish.may });
    await traffic.keep(Math.ceil(hires / 4));
    const { webhookUrl } = await versions.current.receiver();
    const first = await versions.current.worker();
    // The older receiver goes on in tables that the newer version changed.
    await traffic.keep(Math.ceil(hires / 2));
    await world.control.act('setWebhook', { url: webhookUrl });
    await traffic.keep(hires);
    await doomed.kill();
    await first.kill();
    await versions.current.worker();
    const olderSays = await startOlder(versions.base);
    finish.may = true;
    await untilDone(world, traffic, hires);
    const migrations = (await migrationsOf(world)).filter((name) => !before.includes(name));
    return { ...(await judge(world, temporalAddress, traffic, versions)), migrations, olderSays };
  } finally {
    await versions.base.close();
    await versions.current.close();
    await world.close();
  }
}

/** A worker that comes up, or its last words. */
async function startOlder(base: Version): Promise<string | undefined> {
  try {
    await base.worker();
    return undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return said.replace(/^worker ended with \S+: /, '').trim();
  }
}

/** By the store: a command of this version refuses to look at an older one's tables. */
async function untilBaseline(world: World): Promise<void> {
  await until('the baseline is complete', async () => {
    const rows = await ask<{ done: unknown }>(world, 'select baseline_done_at as done from tenants');
    return rows.length > 0 && rows.every(({ done }) => done !== null);
  });
}

async function migrationsOf(world: World): Promise<string[]> {
  const rows = await ask<{ name: string }>(world, 'select name from kysely_migration order by name');
  return rows.map(({ name }) => name);
}

async function ask<T>({ storeUrl }: World, statement: string): Promise<T[]> {
  const { kysely, close } = openDatabase(storeUrl);
  try {
    return (await sql.raw<T>(statement).execute(kysely)).rows;
  } finally {
    await close();
  }
}

async function untilDone(world: World, traffic: Traffic, hires: number): Promise<void> {
  const patient = { timeoutMs: 600_000, everyMs: 1_000 };
  await until('every Employee ID', async () => (await traffic.inFlight()).length === 0, patient);
  await until('every hire is done', async () => (await readStatus(world)).hires['done'] === hires, {
    ...patient,
    timeoutMs: 120_000,
  }).catch(() => undefined);
  await traffic.close();
}

async function judge(world: World, address: string, traffic: Traffic, { base, current }: Versions) {
  const judged = (await gatherEvidence(world)).of(traffic.hired);
  const { hires: states } = await readStatus(world);
  const [installation] = await ask<{ id: string }>(world, 'select id from installation');
  const id = installation?.id ?? '';
  const histories = (await readWorkflows(address, id)).map(({ history }) => history).join('\n');
  const logs = (await Promise.all([base.logs(), current.logs()])).join('\n');
  const endedBy = (pids: readonly number[]): number =>
    pids.reduce((sum, pid) => sum + histories.split(`"${id}@${pid}"`).length - 1, 0);
  return {
    judged,
    states,
    failures: [...new Set([...`${histories}\n${logs}`.matchAll(FAILURES)].map(([found]) => found))],
    tasks: { base: endedBy(base.workerPids()), current: endedBy(current.workerPids()) },
  };
}

/** As Temporal and its SDK name them. */
const FAILURES = /DeterminismViolation\w*|NON_DETERMINISTIC\w*|[Nn]ondeterminis\w+|is not registered on this Worker/g;
