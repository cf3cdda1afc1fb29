import { spawn } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { newDatabase } from '../../src/counterparts/start-postgres.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { type ErasureReceipt, openErasures } from '../../src/store/erasures.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { takeApplicants } from '../harness/hiring.ts';
import { readTenant } from '../harness/read-store.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { type Process, startWorld, until, type World, writtenBack } from '../harness/world.ts';
import { fileOf, openPostgres, type Place } from '../restore/restore.ts';
import { END_COLUMN } from './ground.ts';
import { bytesLeft, type Judged, judgeErased, type Person, plantedIn, receiptsOf } from './judge-beside.ts';

interface BesideOptions {
  temporalAddress: string;
  kind: 'sqlite' | 'postgres';
}

interface BesideOutcome {
  erased: number;
  /** Processes that died by SIGKILL, and where. */
  kills: string[];
  /** Hires of everybody else. */
  others: number;
  faults: string[];
}

interface Play extends Judged {
  place: Place;
  receiver: Process;
  worker: Process;
  /** Whether onboardings of others may end. */
  gate: { isOpen: boolean };
  kills: string[];
}

const PEOPLE = 80;
const UNDER_WAY = 4;
const WAIT = { timeoutMs: 300_000, everyMs: 250 };
/** Onboardings of others end in lots, so that somebody is being hired all the while. */
const LOT_MS = 20_000;
/** Fewer than the limit of an exchange. */
const MOST_EDITS = 15;
const SETTINGS = (assessment: string) => `streams:
  candidates: { every: 4s, deletion: mark }
  applications: { every: 4s, deletion: mark }
  onboarding: { every: 4s, deletion: mark }
  employees: { every: 4s, mapping: desks.yaml }
  invitations: { every: 4s }
invitations: { atOnce: 200, rules: [{ on: { stage: SCREEN }, assessment: "${assessment}" }] }
`;
const DESKS = `fields:
  desk: { from: "candidate.customFields[Desk]", direction: both, owner: hris }
`;
/** In the middle of an erasure by a worker. */
const [AT_ROWS, AT_RECEIPT] = ['erase/store.delete.where/after#9', 'erase/store.insert.audit/before'];

/**
 * People are erased by commands, one after the other, while others are being hired, records are pulled and edits and
 * invitations pushed; processes die by SIGKILL, and the store is lost and put back from a backup of before.
 */
export async function eraseBeside({ temporalAddress, kind }: BesideOptions): Promise<BesideOutcome> {
  const place = kind === 'postgres' ? await openPostgres() : undefined;
  const world = await startWorld({
    temporalAddress,
    jobs: 2,
    candidates: PEOPLE,
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 5s }\n  cancel: { grace: 2s }',
    // Not as short as they go: a loaded machine would end no call.
    env: {
      ...shortWaits,
      HIREBRIDGE_GIVE_UP_MS: '10000',
      HIREBRIDGE_REQUEST_MS: '5000',
      HIREBRIDGE_HEARTBEAT_MS: '4000',
    },
    hris: { fields: { desk: { column: 'desk' } }, endColumn: END_COLUMN },
    // The copy of its server has one of it, too, which nobody looks at.
    ...(place === undefined ? {} : { storeUrl: place.url, hrisUrl: await newDatabase(place.url) }),
  });
  const store = place ?? fileOf(world);
  try {
    return await play(world, store);
  } finally {
    await world.close();
    await store.close();
  }
}

async function play(world: World, place: Place): Promise<BesideOutcome> {
  const words = await plant(world);
  const [receiver, worker] = [await world.startReceiver(), await world.startWorker()];
  await until('the baseline', async () => (await readTenant(place.url, world.tenant)).reconciled, WAIT);
  const people = await takeApplicants(world, PEOPLE);
  const lots = { isOpen: true, at: 0 };
  const mayFinish = (): boolean => {
    if (!lots.isOpen || performance.now() - lots.at < LOT_MS) return false;
    lots.at = performance.now();
    return true;
  };
  const take = (when: string, facts: Partial<Person> = {}): Person => {
    const one = people.shift();
    if (one === undefined) throw new Error('nobody is left');
    return { ...one, when, words: words.get(one.candidateId) ?? [], ...facts };
  };
  const cast = castOf(take);
  const traffic = startTraffic(world, people, { mayFinish });
  const erased = Object.values(cast);
  const told = { kills: [], receipts: new Map<number, ErasureReceipt>() };
  const store = await openStore(place.url);
  const played: Play = { world, place, url: place.url, store, receiver, worker, traffic, gate: lots, erased, ...told };
  await traffic.keep(UNDER_WAY);
  const edits = editDesks(played);
  try {
    await beforeTheRestore(played, cast);
    await restored(played);
    await afterTheRestore(played, cast);
    await edits.stop();
    await calm(played);
    await bringBack(played);
    return await judge(played);
  } finally {
    await edits.stop();
    await played.store.close();
    await traffic.close();
  }
}

function castOf(take: (when: string, facts?: Partial<Person>) => Person) {
  const employed = { isEmployed: true, isEnrolled: true };
  return {
    hired: take('hired', employed),
    asked: take('in question', employed),
    made: take('being made, and made', employed),
    boarding: take('onboarding when the store was lost', { isEnrolled: true }),
    enrolling: take('before enrolment'),
    making: take('being made, and not made', { isEnrolled: true }),
    boarding2: take('onboarding', { isEnrolled: true }),
    kept: take('hired before the backup, erased after the restore', employed),
    applied: take('applied, never hired'),
  };
}

type Cast = ReturnType<typeof castOf>;

/** Everybody has a name and an address that stand nowhere else. */
async function plant({ partner, control, tenantsDir, tenant }: World): Promise<Map<number, string[]>> {
  const { assessmentId } = (await control.act('createAssessment', { title: 'Talk' })) as { assessmentId: string };
  const desk = { entityType: 'candidate', fieldLabel: 'Desk', fieldType: 'text', parentSection: 'Miscellaneous' };
  await partner.customFields.create({ body: desk as never });
  await writeFile(join(tenantsDir, 'desks.yaml'), DESKS);
  await appendFile(join(tenantsDir, `${tenant}.yaml`), SETTINGS(assessmentId));
  const words = new Map<number, string[]>();
  for (const { id } of (await partner.readAll(contract.candidates.list)).items) {
    const fields = plantedIn(Number(id));
    await control.act('editCandidate', { candidateId: Number(id), fields });
    words.set(Number(id), Object.values(fields));
  }
  return words;
}

async function beforeTheRestore(play: Play, { hired, asked, made, boarding, boarding2, making, kept }: Cast) {
  const { place, world } = play;
  await move(play, [hired, asked, made, boarding, boarding2, making, kept], 'HIRED');
  for (const one of [hired, asked, kept, made, boarding, boarding2, making]) await enrolmentOf(play, one);
  for (const one of [hired, asked, kept]) await finish(play, one);
  const isTold = async (one: Person) => (await writtenBack(world)).has(String(one.jobCandidateId));
  for (const one of [hired, asked, kept]) await until('their Employee ID', () => isTold(one), WAIT);
  await move(play, [asked], 'SCREEN');
  await until('a question', async () => (await heldOf(play, asked)) > 0, WAIT);
  await place.snapshot();

  // The command dies, a worker goes on and dies, and the next one ends it.
  await killCommand(play, hired, 'terminate');
  await dieAt(play, AT_ROWS);
  await ended(play, hired);
  // The worker dies while the command is at work.
  const [receipt] = await Promise.all([erase(play, asked), pause(3_000).then(() => restartWorker(play))]);
  play.receipts.set(asked.candidateId, receipt);
  // A request of which nobody knows whether it arrived; and it did.
  await othersWait(play);
  await dieAt(play, 'applyPlan/hris.create/after', () => finish(play, made), { stays: true });
  await eraseInDoubt(play, made);
  await killCommand(play, boarding);
}

/** Everything dies in the middle of an erasure, and the store of before comes back. */
async function restored(play: Play): Promise<void> {
  const { world, place } = play;
  await dieAt(play, AT_ROWS, undefined, { stays: true });
  await play.receiver.kill();
  play.kills.push('receiver');
  await play.store.close();
  play.url = await place.putBack();
  if (play.url.startsWith('postgres')) {
    const { code, stderr } = await world.cli(['restore', '--yes'], envOf(play));
    if (code !== 0) throw new Error(`restore ended with ${code}: ${stderr}`);
  }
  play.store = await openStore(play.url);
  play.receiver = await world.startReceiver(envOf(play));
  play.worker = await world.startWorker(envOf(play));
  await noneUnderWay(play, 'what the backup brought back is erased again', 900_000);
}

async function noneUnderWay({ store }: Play, what: string, timeoutMs = WAIT.timeoutMs): Promise<void> {
  const instead = () => openErasures(store);
  await until(what, async () => (await instead()).length === 0, { ...WAIT, timeoutMs, instead });
}

async function afterTheRestore(play: Play, { enrolling, making, boarding2, kept, applied }: Cast): Promise<void> {
  await othersWait(play);
  await dieAt(play, 'enrol/partner.onboarding.enrol/before', () => move(play, [enrolling], 'HIRED'), { stays: true });
  await eraseInDoubt(play, enrolling);
  await othersWait(play);
  await dieAt(play, 'applyPlan/hris.create/before', () => finish(play, making), { stays: true });
  await eraseInDoubt(play, making);
  await killCommand(play, boarding2);
  await dieAt(play, AT_RECEIPT);
  await ended(play, boarding2);
  for (const one of [kept, applied]) play.receipts.set(one.candidateId, await erase(play, one));
}

/** Nobody works on it any more, a command erases, and the next worker comes in the middle of that. */
async function eraseInDoubt(play: Play, person: Person): Promise<void> {
  const erasing = erase(play, person);
  await until('it is asked for', async () => (await openErasures(play.store)).length > 0, WAIT);
  play.worker = await play.world.startWorker(envOf(play));
  play.gate.isOpen = true;
  play.receipts.set(person.candidateId, await erasing);
}

function envOf({ url }: Play): NodeJS.ProcessEnv {
  return { HIREBRIDGE_STORE_URL: url };
}

function wordsOf({ world }: Play, { candidateId }: Person, employee = 'keep'): string[] {
  const command = `person erase ${world.tenant} candidate:${candidateId} --employee ${employee}`;
  return `${command} --reason asked --yes --json`.split(' ');
}

async function erase(play: Play, person: Person): Promise<ErasureReceipt> {
  const { code, stdout, stderr } = await play.world.cli(wordsOf(play, person), envOf(play));
  if (code !== 0) throw new Error(`${person.when}: person erase ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as ErasureReceipt;
}

/** The worker dies, and then the command, once it is at work. */
async function killCommand(play: Play, person: Person, employee?: 'terminate'): Promise<void> {
  const { world, kills } = play;
  await play.worker.kill();
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const places = ['--tenants', world.tenantsDir, '--data', world.dataDir];
  const env = { ...process.env, ...world.env, ...envOf(play) };
  const child = spawn(process.execPath, [main, ...wordsOf(play, person, employee), ...places], {
    env,
    stdio: 'ignore',
  });
  const died = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  const isAtWork = async () => (await openErasures(play.store)).some(({ found }) => found !== '{}');
  await until('the command is at work', isAtWork, { ...WAIT, everyMs: 10 });
  child.kill('SIGKILL');
  if ((await died) !== 'SIGKILL') throw new Error(`${person.when}: the command ended by itself`);
  kills.push('worker', 'command');
  await dropLeases(play);
}

/** Those of the dead would be waited for. */
async function dropLeases({ store }: Play): Promise<void> {
  await store.kysely.deleteFrom('leases').execute();
}

/** A worker takes the place of the one at work, and dies where it comes to this point. */
async function dieAt(play: Play, point: string, act = async (): Promise<unknown> => undefined, { stays = false } = {}) {
  const { world, kills } = play;
  await play.worker.kill();
  await dropLeases(play);
  const dying = world.startWorker({ ...envOf(play), HIREBRIDGE_FAILPOINT_KILL: point });
  const ended = dying.then((worker) => worker.ended).catch((error: Error) => /SIGKILL/.exec(error.message)?.[0]);
  await act();
  const how = await Promise.race([ended, pause(WAIT.timeoutMs)]);
  if (how !== 'SIGKILL') throw new Error(`the worker did not die at ${point}: ${String(how)}`);
  kills.push('worker', point);
  await dropLeases(play);
  if (!stays) play.worker = await world.startWorker(envOf(play));
}

async function restartWorker(play: Play): Promise<void> {
  await play.worker.kill();
  play.kills.push('worker');
  play.worker = await play.world.startWorker(envOf(play));
}

/** Whoever else is being hired is enrolled and has not finished: none of them comes to a point before ours does. */
async function othersWait(play: Play): Promise<void> {
  play.gate.isOpen = false;
  await until(
    'others wait',
    async () => {
      const [under, ledger, steps] = [await play.traffic.inFlight(), await enrolments(play), await statuses(play)];
      return under.every(({ jobCandidateId }) => {
        const enrolment = ledger.get(String(jobCandidateId));
        return enrolment !== undefined && !steps.has(enrolment);
      });
    },
    WAIT,
  );
}

/** The enrolments of the ledger by application: ours carry it in their reference. */
async function enrolments({ world }: Play): Promise<Map<string, string>> {
  const rows = await world.effects('enrolment');
  return new Map(
    rows.map(({ subject, detail }) => [String(detail['externalRef']).split(':')[1] ?? '', String(subject)]),
  );
}

/** Enrolments whose onboarding is over. */
async function statuses({ world }: Play): Promise<Set<string>> {
  const rows = await world.effects('onboarding-status');
  return new Set(rows.filter(({ detail }) => detail['to'] === 'completed').map(({ subject }) => String(subject)));
}

function enrolmentOf(play: Play, { jobCandidateId, when }: Person): Promise<string> {
  return until(
    `somebody is enrolled (${when})`,
    async () => (await enrolments(play)).get(String(jobCandidateId)),
    WAIT,
  );
}

async function finish(play: Play, person: Person): Promise<void> {
  const onboardingCandidateId = await enrolmentOf(play, person);
  await play.world.control.act('finishOnboarding', { onboardingCandidateId });
}

function move({ world }: Play, people: readonly Person[], stageType: 'HIRED' | 'SCREEN'): Promise<unknown> {
  return world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType });
}

async function heldOf({ store }: Play, { jobCandidateId }: Person): Promise<number> {
  const holds = store.kysely.selectFrom('holds').select('hold_id').where('job_candidate_id', '=', `${jobCandidateId}`);
  return (await holds.where('closed_at', 'is', null).execute()).length;
}

/** A worker ends it; the receipt is in the store. */
async function ended(play: Play, person: Person): Promise<void> {
  await noneUnderWay(play, `the erasure ends (${person.when})`);
  const [receipt] = await receiptsOf(play, person);
  if (receipt === undefined) throw new Error(`${person.when}: there is no receipt`);
  play.receipts.set(person.candidateId, receipt);
}

/** Somebody in HR gives employees desks, which are pushed to the hiring platform; few enough that nobody is asked. */
function editDesks({ world }: Play) {
  const { kysely, close } = openDatabase<never>(world.hrisUrl);
  let made = 0;
  const edit = async (): Promise<void> => {
    const lastOne = sql`select max(id) from employees where desk is null`;
    await sql`update employees set desk = ${`D-${made}`} where id = (${lastOne})`.execute(kysely);
  };
  const timer = setInterval(() => {
    made += 1;
    if (made <= MOST_EDITS) void edit().catch(() => undefined);
  }, LOT_MS);
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await close().catch(() => undefined);
    },
  };
}

/** All others end as they would have ended. */
async function calm(play: Play): Promise<void> {
  const { traffic, gate, url, world } = play;
  gate.isOpen = true;
  await traffic.keep(0);
  const long = { timeoutMs: 600_000, everyMs: 500 };
  await until('every Employee ID', async () => (await traffic.inFlight()).length === 0, long);
  await until(
    'nothing waits',
    async () => {
      const { hires, inbox } = await readTenant(url, world.tenant);
      return (hires['open'] ?? 0) === 0 && (inbox['waiting'] ?? 0) === 0;
    },
    long,
  );
}

/** The partner tells of whoever was erased again, and every pass is made once more. */
async function bringBack(play: Play): Promise<void> {
  const { world, erased, url } = play;
  for (const person of erased) {
    const fields = { firstName: `Qz${person.candidateId}back`, summary: `Qz${person.candidateId}told` };
    await world.control.act('editCandidate', { candidateId: person.candidateId, fields });
    person.words.push(...Object.values(fields));
  }
  for (const stage of ['SCREEN', 'HIRED'] as const) await move(play, erased, stage);
  const run = async (...args: string[]): Promise<void> => {
    let said = '';
    const isDone = async (): Promise<boolean> => {
      const { code, stderr } = await world.cli(args, envOf(play));
      said = `${args.join(' ')} ended with ${code}: ${stderr}`;
      // Its schedule runs the same stream every few seconds.
      if (code !== 0 && !stderr.includes('[SYNC_BUSY]')) throw new Error(said);
      return code === 0;
    };
    await until(args.join(' '), isDone, { ...WAIT, instead: () => said });
  };
  for (const stream of ['candidates', 'applications', 'onboarding', 'employees'])
    await run('sync', world.tenant, stream, '--full');
  await run('sync', world.tenant, 'invitations');
  await run('reconcile', world.tenant, '--full');
  await until(
    'the inbox is empty',
    async () => {
      const { inbox } = await readTenant(url, world.tenant);
      return (inbox['waiting'] ?? 0) === 0;
    },
    WAIT,
  );
  await pause(5_000);
}

async function judge(play: Play): Promise<BesideOutcome> {
  const faults = await judgeErased(play);
  const { kills, erased, traffic, store } = play;
  await Promise.all([play.worker.kill(), play.receiver.kill()]);
  if (store.kind === 'sqlite') faults.push(...(await bytesLeft(play)));
  return { erased: erased.length, kills, others: traffic.hired.length, faults };
}
