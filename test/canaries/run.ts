// Where somebody's words come to stand: npm run test:canaries -- [--people N] [--cores unlimited] [--keep];
// also with HIREBRIDGE_KEYS set
import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/print.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { showCliProgress } from '../../src/temporal/dev-server/cli-progress.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli } from '../../src/temporal/dev-server/resolve-cli.ts';
import { startWorld, until, type World, writtenBack } from '../harness/world.ts';

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '100' },
    cores: { type: 'string', default: '0' },
    keep: { type: 'boolean', default: false },
  },
});
const PEOPLE = Number(values.people);
const HIRED = Math.ceil(PEOPLE / 5);
/** All processes encrypt what they store and what Temporal is given. */
const IS_ENCRYPTED = process.env['HIREBRIDGE_KEYS'] !== undefined;
/** How the employee is made of what somebody filled in: their answer and their pay come to stand in the HR system. */
const MAPPING = `fields:
  department: { from: "application.answers[Why us?]" }
  title: { from: application.expectedCTC }
  startDate: { constant: "2099-01-11" }
`;
const OWN = `mapping: pay.yaml
streams: { candidates: { every: 5s }, applications: { every: 5s }, consents: { every: 5s } }`;
/** Reads whose answers break off in the middle of somebody's words, which stand in what the error says. */
const BROKEN = ['candidates.list', 'candidates.bulkFetch', 'jobCandidates.bulkFetch', 'jobCandidates.getApplication'];

interface Person {
  candidateId: number;
  /** Texts and numbers that stand nowhere else in the world. */
  canaries: string[];
  /** Of whoever applied by the hosted page, to be hired. */
  jobCandidateId?: number;
}

/** Files by who wrote them; the sandbox and the HR system are not ours to search. */
interface Ground {
  root: string;
  temporal: string;
  temp: string;
  /** Where a process that crashes leaves what it leaves. */
  crash: string;
  world: World;
  store: Store;
}

interface Look {
  when: string;
  /** Canaries that stand in each place. */
  found: Record<string, number>;
  faults: string[];
}

async function main(): Promise<void> {
  const { path: cliPath } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const root = await mkdtemp(join(tmpdir(), 'hirebridge-canaries-'));
  const temp = join(root, 'tmp');
  const crash = join(root, 'crash');
  await mkdir(temp);
  await mkdir(crash);
  const dbFile = join(root, 'temporal', 'temporal.db');
  const logFile = join(root, 'temporal', 'temporal.log');
  const temporal = await startDevServer({ cliPath, headless: true, dbFile, logFile });
  const world = await startWorld({
    temporalAddress: temporal.address,
    jobs: 2,
    candidates: PEOPLE,
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 5s }\n  cancel: { grace: 2s }',
    writeBack: `status: hired\n${OWN}`,
    env: { LOG_LEVEL: 'trace', TMPDIR: temp },
  });
  const looks: Look[] = [];
  let planted = 0;
  try {
    await writeFile(join(world.tenantsDir, 'pay.yaml'), MAPPING);
    const people = await plant(world);
    await play(world, people, crash);
    planted = people.flatMap(({ canaries }) => canaries).length;
    const store = await openStore(world.storeUrl);
    try {
      await search({ root, temporal: join(root, 'temporal'), temp, crash, world, store }, people, looks);
    } finally {
      await store.close();
    }
  } finally {
    await world.close();
    await temporal.stop();
    if (!values.keep) await rm(root, { recursive: true, force: true });
  }
  const places = [...new Set(looks.flatMap(({ found }) => Object.keys(found)))].toSorted();
  const rows = looks.map(({ when, found, faults }) => [
    when,
    ...places.map((place) => String(found[place] ?? 0)),
    faults.join('; ') || 'ok',
  ]);
  process.stdout.write(`${renderTable([`of ${planted} canaries`, ...places, ''], rows)}\n`);
  if (looks.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

/**
 * Gives everybody in the sandbox a name, an address, a number and a summary that are nobody else's. Those who are to be
 * hired apply by the hosted page, with what they want to earn, an answer and the name of a file.
 */
async function plant({ partner, control }: World): Promise<Person[]> {
  const word = (kind: string) => `Cny${kind}${randomBytes(6).toString('hex')}`;
  const { items } = await partner.readAll(contract.candidates.list);
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const people: Person[] = [];
  const profile = () => ({
    firstName: word('given'),
    lastName: word('family'),
    email: `${word('mail').toLowerCase()}@canary.example`,
    phone: `+49170${String(10_000_000 + people.length * 7_919).padStart(8, '0')}`,
    summary: word('summary'),
  });
  for (const { id } of items) {
    const fields = profile();
    await control.act('editCandidate', { candidateId: Number(id), fields });
    people.push({ candidateId: Number(id), canaries: Object.values(fields) });
  }
  for (let n = 0; n < HIRED; n += 1) {
    const candidate = profile();
    const [answer, file] = [word('answer'), `${word('file')}.pdf`];
    const salary = randomInt(100_000_000_000, 999_999_999_999);
    const application = {
      expectedCTC: salary,
      screeningQuestionAnswer: [{ question: 'Why us?', answer }],
      otherFiles: [{ name: file }],
    };
    const applied = await control.act('apply', { jobId: Number(job?.id), candidate, application });
    const { candidateId, jobCandidateId } = applied as { candidateId: number; jobCandidateId: number };
    const canaries = [...Object.values(candidate), answer, file, String(salary)];
    people.push({ candidateId, jobCandidateId, canaries });
  }
  return people;
}

/** Hires among faults, a worker that crashes, people who are turned down, and questions, at the loudest level. */
async function play(world: World, people: readonly Person[], crash: string): Promise<void> {
  await world.startReceiver();
  // As docs/security.md says: with `unlimited` the core that is left here holds what the worker had read.
  const via = ['bash', '-c', `cd "${crash}" && ulimit -c ${values.cores} && exec "$0" "$@"`];
  const worker = await world.startWorker({}, { via });
  await until('the baseline', async () => {
    const store = await openStore(world.storeUrl);
    const state = await readTenantState(store, world.tenant).finally(() => store.close());
    return state.baseline_done_at !== null;
  });
  const hired = people.flatMap(({ jobCandidateId }) => jobCandidateId ?? []);
  const move = (jobCandidateIds: number[], stageType: 'HIRED' | 'SCREEN') =>
    world.control.act('move', { jobCandidateIds, stageType });
  const faults = ['server-error', 'answer-lost', 'reset-before', 'truncated-body', 'html-body'] as const;
  for (const kind of faults) await world.control.act('addFault', { kind, probability: 0.05, times: 6 });
  for (const operation of BROKEN)
    await world.control.act('addFault', { kind: 'truncated-body', on: operation, times: 2 });
  await move(hired.slice(0, HIRED / 2), 'HIRED');
  await move(hired.slice(HIRED / 2), 'HIRED');
  await until('somebody is enrolled', async () => (await world.effects('enrolment')).length > 0);
  worker.child.kill('SIGABRT');
  if ((await worker.ended) !== 'SIGABRT') throw new Error('the worker did not crash');
  await world.startWorker();
  await world.control.act('clearFaults', {});
  // Turned down again: what they left must go as well.
  await move(hired.slice(-2), 'SCREEN');
  const staying = HIRED - 2;
  await until(
    'the rest is hired',
    async () => {
      await world.finishOnboardings();
      return (await writtenBack(world)).size >= staying;
    },
    { timeoutMs: 300_000, everyMs: 1_000 },
  );
}

/** Looks while everybody is there, after one person was erased, and after the tenant was. */
async function search(ground: Ground, people: readonly Person[], looks: Look[]): Promise<void> {
  const { world } = ground;
  const all = people.flatMap(({ canaries }) => canaries);
  const said: string[] = [];
  const cli = async (...args: string[]): Promise<void> => {
    const { code, stdout, stderr } = await world.cli(args);
    said.push(stdout, stderr);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  };
  const backups = join(ground.root, 'backups');
  await mkdir(backups);
  await cli('backup', join(backups, 'before'));
  const atWork = await lookFor(ground, all);
  const isBlind = !IS_ENCRYPTED && !Object.hasOwn(atWork, 'store');
  const faults = [...elsewhere(atWork), ...(isBlind ? ['the search finds nothing at all'] : [])];
  looks.push({ when: 'at work', found: atWork, faults });
  looks.push(await exported(ground, people, cli));
  const [row] = await ground.store.kysely
    .selectFrom('hires')
    .select('candidate_id')
    .where('state', '=', 'done')
    .execute();
  const person = people.find(({ candidateId }) => String(candidateId) === row?.candidate_id);
  if (person === undefined) throw new Error('nobody was hired');
  const who = `candidate:${person.candidateId}`;
  await cli('person', 'find', world.tenant, who);
  await cli('person', 'erase', world.tenant, who, '--employee', 'keep', '--reason', 'asked for', '--yes');
  await cli('backup', join(backups, 'after'));
  looks.push({ when: 'one person erased: theirs', ...(await nowhere(ground, person.canaries, said)) });
  const rest = people.filter((one) => one !== person).flatMap(({ canaries }) => canaries);
  const others = await lookFor(ground, rest, said);
  looks.push({ when: 'and of all others', found: others, faults: elsewhere(others) });
  const gone = ['--erase', '--landing', 'delete', '--reason', 'end of contract', '--yes'];
  await rm(backups, { recursive: true });
  await cli('tenant', 'remove', world.tenant, ...gone);
  looks.push({ when: 'tenant erased', ...(await nowhere(ground, all, said)) });
}

/** What is exported of a person holds all of their words that the store has, and nobody else's. */
async function exported(
  ground: Ground,
  people: readonly Person[],
  cli: (...args: string[]) => Promise<void>,
): Promise<Look> {
  const { root, world } = ground;
  const found: Record<string, number> = { export: 0 };
  const faults: string[] = [];
  for (const person of people.filter(({ jobCandidateId }) => jobCandidateId !== undefined).slice(0, 5)) {
    const file = join(root, `export-${person.candidateId}.json`);
    await cli('person', 'export', world.tenant, `candidate:${person.candidateId}`, '--out', file);
    const text = await readFile(file, 'utf8');
    const theirs = person.canaries.filter((one) => text.includes(one)).length;
    const others = people.filter((one) => one !== person).flatMap(({ canaries }) => canaries);
    const strange = others.filter((one) => text.includes(one)).length;
    found['export'] = (found['export'] ?? 0) + theirs;
    const stored = IS_ENCRYPTED ? theirs : (await lookFor(ground, person.canaries))['store'];
    if (theirs === 0 || theirs !== stored)
      faults.push(`${theirs} of ${stored} in the export of candidate ${person.candidateId}`);
    if (strange > 0) faults.push(`${strange} of others in the export of candidate ${person.candidateId}`);
  }
  return { when: 'exported', found, faults };
}

/** Only the store and its copies may hold a value of anybody, and neither where they are encrypted. */
function elsewhere(found: Record<string, number>): string[] {
  const others = Object.entries(found).filter(
    ([place]) => IS_ENCRYPTED || (place !== 'store' && !place.startsWith('backup')),
  );
  return others.map(([place, count]) => `${count} in ${place}`);
}

/** What a process had read before may be written a moment later, and the log of the store is emptied after that. */
async function nowhere(
  ground: Ground,
  canaries: readonly string[],
  said: readonly string[],
): Promise<Pick<Look, 'found' | 'faults'>> {
  const found = await lookFor(ground, canaries, said);
  // What was copied before holds them until it is deleted (docs/privacy.md).
  const others = Object.entries(found).filter(([place]) => place !== 'backup before');
  return { found, faults: others.map(([place, count]) => `${count} in ${place}`) };
}

/** A file that went meanwhile holds nothing; one that cannot be read might. */
function ifGone(error: NodeJS.ErrnoException): Buffer {
  if (error.code !== 'ENOENT') throw error;
  return Buffer.alloc(0);
}

/** How many of them stand in each place, by the bytes of its files: free pages and write-ahead logs are among those. */
async function lookFor(
  { root, temporal, temp, crash, world }: Ground,
  canaries: readonly string[],
  said: readonly string[] = [],
): Promise<Record<string, number>> {
  const texts: [string, Buffer][] = [['commands', Buffer.from(said.join('\n'))]];
  texts.push(['logs', Buffer.from(await world.logs())]);
  for (const [folder, name] of [
    [world.dataDir, 'data directory'],
    [temporal, 'Temporal'],
    [temp, 'temp'],
    [crash, 'crash'],
    [join(root, 'backups'), 'backup'],
  ] as const)
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      const isStore = relative(world.dataDir, path).startsWith('store.db');
      const place = name === 'backup' ? `backup ${file.name}` : name;
      texts.push([isStore ? 'store' : place, await readFile(path).catch(ifGone)]);
    }
  const places = Map.groupBy(texts, ([place]) => place);
  const counts = [...places].map(([place, some]) => {
    const here = canaries.filter((one) => some.some(([, bytes]) => bytes.includes(one)));
    if (here.length > 0 && values.keep) process.stderr.write(`${place} in ${root}: ${here.slice(0, 3).join(', ')}\n`);
    return [place, here.length] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

await main();
