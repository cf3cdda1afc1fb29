import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { CustomerHris, HrisSource } from '../../src/counterparts/hris-sources.ts';
import { newDatabase, startPostgres, type TestPostgres } from '../../src/counterparts/start-postgres.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { copyCluster } from '../drills/cluster-pair.ts';
import { takeApplicants } from '../harness/hiring.ts';
import { gatherEvidence } from '../harness/judge-hires.ts';
import { readTenant } from '../harness/read-store.ts';
import { startHrisSource } from '../harness/start-hris-source.ts';
import { type Applicant, type Process, startWorld, until, type World, writtenBack } from '../harness/world.ts';

/** When the backup was made, in the story that `play` tells. */
export const AGES = ['no backup at all', 'before', 'enrolled', 'made', 'asked', 'deleted'] as const;
export type Age = (typeof AGES)[number];
export const STORES = ['sqlite', 'postgres'] as const;
export const KINDS = ['sql', 'sftp', 'bamboohr'] as const;

export interface RestoreOptions {
  temporalAddress: string;
  age: Age;
  store: (typeof STORES)[number];
  kind: (typeof KINDS)[number];
  /** Of that kind, which gives each an HR system of its own; started here where none is given. */
  source?: HrisSource | undefined;
}

export interface RestoreOutcome {
  /** Hires, and what came of them by the ledger and the HR system. */
  hires: number;
  employees: number;
  credits: number;
  verified: number;
  /** Questions that wait for a person when everything is calm, by code. */
  asked: Record<string, number>;
  /** What `doctor --after-restore` printed. */
  doctor: string;
  faults: string[];
}

/** Where the store is, and how it is copied and put back. */
export interface Place {
  url: string;
  snapshot(): Promise<void>;
  /** Gives the address from then on. */
  putBack(): Promise<string>;
  close(): Promise<void>;
}

type Person = Applicant;

interface Story {
  /** Hired, and there to stay: exactly one employee each, whose number the partner shows. */
  staying: Person[];
  /** Made, and HR deleted the employee: asked about and not made again. */
  deleted: Person[];
  /** Made, and left afterwards: asked about. */
  gone: Person[];
  /** Left before anything was made. */
  cancelled: Person[];
  /** Of those whom HR deleted: known as finished by the backup, so that nothing is to be done or asked. */
  over: Person[];
}

/**
 * Hires in every state; a backup somewhere in between; everything goes on; then the store is lost, put back, and all
 * that can end ends. Temporal, the partner and the HR system know everything all the while.
 */
export async function playRestore(options: RestoreOptions): Promise<RestoreOutcome> {
  const source = options.source ?? (await startHrisSource(options.kind));
  const hris = await source?.open();
  const place = options.store === 'postgres' ? await openPostgres() : undefined;
  const world = await startWorld({
    temporalAddress: options.temporalAddress,
    jobs: 2,
    candidates: 30,
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 2s }\n  cancel: { grace: 2s }',
    ...(place === undefined ? {} : { storeUrl: place.url }),
    ...(hris === undefined ? {} : { otherHris: hris }),
  });
  const store = place ?? fileOf(world);
  try {
    return await play(world, hris, store, options);
  } finally {
    await world.close();
    await store.close();
    await hris?.close();
    if (options.source === undefined) await source?.stop();
  }
}

async function play(
  world: World,
  hris: CustomerHris | undefined,
  store: Place,
  { age }: RestoreOptions,
): Promise<RestoreOutcome> {
  const running = [await world.startReceiver(), await world.startWorker()];
  await until('the baseline', async () => (await readTenant(store.url, world.tenant)).reconciled);
  const people = await takeApplicants(world, 14);
  const take = (count: number): Person[] => people.splice(0, count);
  const reached = async (now: Age): Promise<void> => {
    if (now === age) await store.snapshot();
  };
  await reached('before');

  const [first, second, third, last] = [take(4), take(3), take(3), take(4)];
  await hire(world, first);
  await untilEnrolled(world, first);
  await reached('enrolled');
  await untilVerified(world, first);
  await hire(world, second);
  await untilEnrolled(world, second);
  await reached('made');
  await move(world, [first[0]], 'SCREEN');
  await untilAsked(world, store.url, 1);
  await untilVerified(world, second);
  await hire(world, third);
  await untilEnrolled(world, third);
  await reached('asked');
  await remove(world, hris, first[1]);
  await move(world, [third[0]], 'SCREEN');
  await untilVerified(world, third.slice(1));
  await reached('deleted');
  await remove(world, hris, second[1]);
  await hire(world, last);
  await untilVerified(world, last);
  await move(world, [last[0]], 'SCREEN');
  await untilAsked(world, store.url, 2);

  for (const one of running) await one.kill();
  const url = age === 'no backup at all' ? await wiped(world, store) : await store.putBack();
  await restarted(world, url, age);
  const [isFirstOver, isSecondOver] = [['made', 'asked', 'deleted'].includes(age), ['asked', 'deleted'].includes(age)];
  const story: Story = {
    staying: [...first.slice(2), second[0], second[2], ...third.slice(1), ...last.slice(1)] as Person[],
    deleted: [first[1], second[1]] as Person[],
    gone: [first[0], last[0]] as Person[],
    cancelled: [third[0]] as Person[],
    over: [...(isFirstOver ? [first[1]] : []), ...(isSecondOver ? [second[1]] : [])] as Person[],
  };
  await untilCalm(world, url, [...story.deleted.filter((one) => !story.over.includes(one)), ...story.gone]);
  return judge(world, url, story);
}

async function restarted(world: World, url: string, age: Age): Promise<Process[]> {
  const env = { HIREBRIDGE_STORE_URL: url };
  if (age !== 'no backup at all' && url.startsWith('postgres')) {
    const { code, stderr } = await world.cli(['restore', '--yes'], env);
    if (code !== 0) throw new Error(`restore ended with ${code}: ${stderr}`);
  }
  return [await world.startReceiver(env), await world.startWorker(env)];
}

function hire(world: World, people: readonly Person[]): Promise<unknown> {
  return move(world, people, 'HIRED');
}

function move(world: World, people: readonly (Person | undefined)[], stageType: 'HIRED' | 'SCREEN'): Promise<unknown> {
  return world.control.act('move', { jobCandidateIds: people.map((one) => one?.jobCandidateId ?? 0), stageType });
}

async function remove(world: World, hris: CustomerHris | undefined, person: Person | undefined): Promise<void> {
  const own = (await world.employees()).find((one) => one.reference === `${world.company}:${person?.candidateId}`);
  if (own === undefined) throw new Error('nobody to delete');
  if (hris !== undefined) return hris.remove?.(own.id);
  const { kysely, close } = openDatabase<never>(world.hrisUrl);
  await sql`delete from employees where id = ${Number(own.id)}`.execute(kysely);
  await close();
}

async function untilEnrolled(world: World, people: readonly Person[]): Promise<void> {
  await until('everybody is enrolled', async () => {
    const told = (await world.effects('enrolment')).map(({ detail }) => String(detail['externalRef']).split(':')[1]);
    return people.every(({ jobCandidateId }) => told.includes(`${jobCandidateId}`));
  });
}

async function untilVerified(world: World, people: readonly Person[]): Promise<void> {
  await until('every Employee ID is back', async () => {
    await world.finishOnboardings();
    const written = await writtenBack(world);
    return people.every(({ jobCandidateId }) => written.has(`${jobCandidateId}`));
  });
}

async function untilAsked(world: World, url: string, count: number): Promise<void> {
  const asked = async () => (await readTenant(url, world.tenant)).holds;
  await until(
    'it is asked about who left',
    async () => (await asked()).filter((code) => DEPARTED.has(code)).length >= count,
  );
}

/** What asks about somebody who left once their employee was made. */
const DEPARTED = new Set(['LEFT_BEFORE_START', 'LEFT_AFTER_EMPLOYEE', 'EMPLOYEE_GONE']);

/**
 * Everything was compared, and what is open waits for a person, while two more reconciles begin and end. A hire that
 * the store does not know yet leaves no trace in it, so whoever is due for a question is waited for, too.
 */
async function untilCalm(world: World, url: string, due: readonly Person[]): Promise<void> {
  const ended = new Set<string>();
  await until(
    'everything that can end has ended',
    async () => {
      await world.finishOnboardings();
      const { rows } = await ask<{ busy: string; reconciled: string }>(
        url,
        `select (select count(*) from hires where state = 'open' and not exists (select 1 from holds
            where holds.tenant_id = hires.tenant_id and holds.job_candidate_id = hires.job_candidate_id
              and holds.closed_at is null))
          + (select count(*) from inbox where state = 'waiting')
          + (select count(*) from tenants where fully_reconciled_at is null) as busy,
          (select max(reconciled_at) from tenants) as reconciled`,
      );
      const asksAbout = await readAsked(url);
      if (Number(rows[0]?.busy) > 0 || !due.every(asksAbout)) ended.clear();
      else ended.add(String(rows[0]?.reconciled));
      // The first may have ended before, and the second may have begun before.
      return ended.size > 3;
    },
    { everyMs: 1_000, timeoutMs: CALM_MS },
  ).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
}

/** Then it is judged as it is, and the fault is named. */
const CALM_MS = 600_000;

/** Whether somebody has an open question, of their own or named in one of the tenant. */
async function readAsked(url: string): Promise<(person: Person) => boolean> {
  const { rows } = await ask<{ id: string | null; details: string | null }>(
    url,
    'select job_candidate_id as id, details from holds where closed_at is null',
  );
  return ({ jobCandidateId }) =>
    rows.some(({ id, details }) => id === `${jobCandidateId}` || (details ?? '').includes(`"${jobCandidateId}"`));
}

async function judge(world: World, url: string, story: Story): Promise<RestoreOutcome> {
  const evidence = await gatherEvidence(world);
  const { staying, deleted, gone, cancelled, over } = story;
  const all = evidence.of([...staying, ...deleted, ...gone, ...cancelled]);
  const stay = evidence.of(staying);
  const { rows } = await ask<{ code: string }>(url, 'select code from holds where closed_at is null');
  const asksAbout = await readAsked(url);
  const unasked = (people: readonly Person[]): number => people.filter((one) => !asksAbout(one)).length;
  const idle = staying.filter(asksAbout).length;
  const open = deleted.filter((one) => !over.includes(one));
  const { stdout: doctor, code } = await world.cli(['doctor', '--after-restore'], { HIREBRIDGE_STORE_URL: url });
  const wrong: Record<string, boolean> = {
    [`of ${staying.length} who stay ${stay.verified} have one employee with the told number`]:
      stay.verified < staying.length || stay.employees !== staying.length,
    [`${evidence.of(deleted).employees} employees of those whom HR deleted`]: evidence.of(deleted).employees !== 0,
    [`${evidence.of(gone).employees} employees of ${gone.length} who left`]:
      evidence.of(gone).employees !== gone.length,
    [`${evidence.of(cancelled).employees} employees of those who left before one was made`]:
      evidence.of(cancelled).employees !== 0,
    [`${all.credits} credits for ${all.hires} hires`]: all.credits !== all.hires,
    [`${unasked(open)} of those whom HR deleted are not asked about`]: unasked(open) > 0,
    [`${unasked(gone)} of those who left are not asked about`]: unasked(gone) > 0,
    [`${idle} of those who stay are asked about`]: idle > 0,
    [`doctor --after-restore ended with ${code}`]: code !== 0,
  };
  const asked: Record<string, number> = {};
  for (const { code: reason } of rows) asked[reason] = (asked[reason] ?? 0) + 1;
  return { ...all, asked, doctor, faults: Object.keys(wrong).filter((fault) => wrong[fault]) };
}

async function ask<T>(url: string, statement: string) {
  const { kysely, close } = openDatabase<never>(url, { poolSize: 1 });
  try {
    return await sql.raw<T>(statement).execute(kysely);
  } finally {
    await close();
  }
}

/** By the product's own commands. */
export function fileOf(world: World): Place {
  const copy = join(world.dir, 'backup.db');
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await world.cli(args);
    if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stderr}`);
  };
  return {
    url: world.storeUrl,
    snapshot: () => run('backup', copy),
    async putBack() {
      await run('restore', copy, '--yes', '--as', 'ada');
      return world.storeUrl;
    },
    close: async () => undefined,
  };
}

/** By a base backup. */
export async function openPostgres(): Promise<Place> {
  const server = await startPostgres();
  const url = await newDatabase(server.url);
  const copy = `${server.cluster}-copy`;
  let second: TestPostgres | undefined;
  return {
    url,
    snapshot: () => copyCluster(server, copy),
    async putBack() {
      second = await startPostgres({ fill: (folder) => cp(copy, folder, { recursive: true }) });
      return Object.assign(new URL(url), { port: new URL(second.url).port }).href;
    },
    async close() {
      await second?.stop();
      await server.stop();
    },
  };
}

/** Nothing is left of the store. */
async function wiped(world: World, { url }: Place): Promise<string> {
  if (url.startsWith('postgres')) return newDatabase(url);
  for (const end of ['', '-wal', '-shm']) await rm(`${url.slice('sqlite:'.length)}${end}`, { force: true });
  await pause(0);
  return world.storeUrl;
}
