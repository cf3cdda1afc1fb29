import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { addFleet } from '../fleet-at-rest/add-fleet.ts';
import { startTraffic, type Traffic } from '../harness/hire-traffic.ts';
import { takeApplicants, untilBaseline } from '../harness/hiring.ts';
import { joinWorld } from '../harness/join-world.ts';
import { gatherEvidence } from '../harness/judge-hires.ts';
import { type Process, startWorld, until, type World } from '../harness/world.ts';
import type { Sample } from './flat.ts';

export interface SoakOptions {
  cliPath: string;
  minutes: number;
  tenants: number;
  say: (line: string) => void;
}

/** Tenants with a partner of their own, in which hires come and go; the others follow streams. */
const HIRING = 5;
/** Hires of each of them under way at once. */
const UNDER_WAY = 1;
const SAMPLE_MS = 15_000;
const KILL_MS = 60_000;
const CANDIDATES = 1_000;
const POLICIES = 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 1m }\n  cancel: { grace: 2s }';

/** Nobody finishes an onboarding but in the first moments of every five seconds: so the people last for an hour. */
function mayFinish(): boolean {
  return Date.now() % 5_000 < 300;
}

/** Two workers and two receivers; one of each lives through it all, of the others one is killed every minute. */
export async function soak({ cliPath, minutes, tenants, say }: SoakOptions) {
  const [temporal, server] = await Promise.all([startDevServer({ cliPath, headless: true }), startPostgres()]);
  const storeUrl = await newDatabase(server.url);
  const options = { temporalAddress: temporal.address, storeUrl, jobs: 3, candidates: CANDIDATES, policies: POLICIES };
  const world = await startWorld({ ...options, env: { HIREBRIDGE_REUSE_PORT: '1', LOG_LEVEL: 'warn' } });
  await follow(world);
  const fleet = await addFleet(world, { tenants: tenants - HIRING, streaming: tenants - HIRING, every: '1m' });
  const watching = new pg.Client({ connectionString: storeUrl });
  await watching.connect();
  const worlds: World[] = [world];
  try {
    const lasting = { worker: await world.startWorker(), receiver: await world.startReceiver() };
    const mortal: Record<'worker' | 'receiver', Process> = {
      worker: await world.startWorker(),
      receiver: await world.startReceiver(),
    };
    for (let n = 1; n < HIRING; n += 1)
      worlds.push(await joinWorld(world, { ...options, tenant: `tenant-${n}` }, follow));
    for (const one of worlds) await untilBaseline(one);
    say('every tenant is live');
    const traffics: Traffic[] = [];
    for (const one of worlds)
      traffics.push(startTraffic(one, await takeApplicants(one, CANDIDATES - 50), { mayFinish }));
    for (const one of traffics) await one.keep(UNDER_WAY);
    const samples: Sample[] = [];
    const begin = performance.now();
    const end = begin + minutes * 60_000;
    let kills = 0;
    let nextKill = begin + KILL_MS;
    const edits = editJobs(worlds);
    for (; performance.now() < end; await pause(SAMPLE_MS)) {
      const values = await look(watching, lasting);
      samples.push({ at: Math.round((performance.now() - begin) / 1_000), values });
      say(JSON.stringify(samples.at(-1)));
      if (performance.now() < nextKill) continue;
      nextKill += KILL_MS;
      const role = kills % 2 === 0 ? 'worker' : 'receiver';
      kills += 1;
      await mortal[role].kill();
      mortal[role] = await (role === 'worker' ? world.startWorker() : world.startReceiver());
    }
    edits.stop();
    return { samples, kills, judged: await judge(worlds, traffics) };
  } finally {
    await watching.end();
    for (const one of worlds.toReversed()) await one.close();
    await fleet();
    await Promise.all([temporal.stop(), server.stop()]);
  }
}

/** Jobs and candidates are landed in its HR system, too. */
async function follow({ tenantsDir, tenant }: World): Promise<void> {
  await appendFile(
    join(tenantsDir, `${tenant}.yaml`),
    'streams:\n  jobs: { every: 1m }\n  candidates: { every: 1m }\n',
  );
}

/** Somebody at the partner changes a job every few seconds. */
function editJobs(worlds: readonly World[]): { stop(): void } {
  let edited = 0;
  const edit = async ({ partner, control }: World): Promise<void> => {
    const { items } = await partner.readAll(contract.jobs.list);
    const jobId = Number(items[edited % items.length]?.id);
    await control.act('editJob', { jobId, fields: { title: `Engineer ${edited}` } });
  };
  const timer = setInterval(() => {
    edited += 1;
    const one = worlds[edited % worlds.length];
    if (one !== undefined) void edit(one).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }, 5_000);
  return { stop: () => clearInterval(timer) };
}

async function look(client: pg.Client, { worker, receiver }: Record<'worker' | 'receiver', Process>) {
  const ask = async (statement: string): Promise<number> =>
    Number((await client.query<{ value: string }>(statement)).rows[0]?.value ?? 0);
  const recent = `select percentile_disc(0.5) within group (order by ended_at - opened_at) as value from hires
    where state = 'done' and ended_at > (extract(epoch from clock_timestamp()) * 1000)::bigint - 120000`;
  return {
    'worker, MB': await megabytes(worker),
    'receiver, MB': await megabytes(receiver),
    'worker, handles': await handles(worker),
    'receiver, handles': await handles(receiver),
    'store connections': await ask(
      `select count(*) as value from pg_stat_activity where application_name = 'hirebridge'`,
    ),
    'store, MB': await ask(`select pg_database_size(current_database()) / 1000000.0 as value`),
    'hints waiting': await ask('select count(*) as value from hints'),
    'deliveries waiting': await ask(`select count(*) as value from inbox where state = 'waiting'`),
    'a hire, s': (await ask(recent)) / 1_000,
    hires: await ask(`select count(*) as value from hires where state = 'done'`),
  };
}

async function megabytes({ child }: Process): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
}

async function handles({ child }: Process): Promise<number> {
  return (await readdir(`/proc/${child.pid}/fd`)).length;
}

async function judge(worlds: readonly World[], traffics: readonly Traffic[]) {
  const judged = { hires: 0, lost: 0, twice: 0 };
  for (const [n, traffic] of traffics.entries()) {
    await traffic.keep(0);
    await until('everybody is done', async () => (await traffic.inFlight()).length === 0, { timeoutMs: 300_000 });
    const evidence = await gatherEvidence(worlds[n]!);
    const { hires, verified } = evidence.of(traffic.hired);
    judged.hires += hires;
    judged.lost += hires - verified;
    judged.twice += Math.max(0, evidence.all.employees - hires) + Math.max(0, evidence.all.credits - hires);
    await traffic.close();
  }
  return judged;
}
