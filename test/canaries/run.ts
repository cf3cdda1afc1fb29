// Where somebody's words come to stand: npm run test:canaries -- [--only 'postgres sftp'] [--people N]
// [--cores unlimited] [--keep]
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { inspect, parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, rowsOf, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { openStore } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { addKey } from '../../src/vault/keys.ts';
import { patience } from '../harness/pace.ts';
import { startWorld, until, type World, writtenBack } from '../harness/world.ts';
import { HR_SYSTEMS, type HrSystem } from './hr-systems.ts';
import { type Canary, canary, isId, isTold, plant, tokensIn } from './people.ts';
import {
  counts,
  elsewhere,
  type Ground,
  inStore,
  type Look,
  lookFor,
  nowhere,
  type Round,
  tablesWith,
} from './search.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    people: { type: 'string', default: '60' },
    cores: { type: 'string', default: '0' },
    keep: { type: 'boolean', default: false },
  },
});
const PEOPLE = Number(values.people);
const HIRED = Math.ceil(PEOPLE / 5);
const LEAST = 400;

const ROUNDS: readonly Round[] = [
  { store: 'sqlite', hris: 'sql' },
  { store: 'postgres', hris: 'sftp' },
  { store: 'sqlite', hris: 'bamboohr', isEncrypted: true },
  { store: 'postgres', hris: 'sql', isEncrypted: true },
  { store: 'sqlite', hris: 'sftp', isKept: true },
];

/** How the employee is made of what somebody filled in: their answer and their pay come to stand in the HR system. */
const mapping = ({ answerField }: HrSystem): string => `fields:
  ${answerField}: { from: "application.answers[Why us?]" }
  title: { from: application.expectedCTC }
  startDate: { constant: "2099-01-11" }
`;
const STREAMS = ['candidates', 'applications', 'consents', 'onboarding', 'documents'];
const OWN = `mapping: pay.yaml
documents: [resume, onboarding, offers]
streams: { ${STREAMS.map((stream) => `${stream}: { every: 5s }`).join(', ')} }
`;
/** Reads whose answers break off in the middle of somebody's words, which stand in what the error says. */
const BROKEN = ['candidates.list', 'candidates.bulkFetch', 'jobCandidates.bulkFetch', 'jobCandidates.getApplication'];
/** What nobody is shown values by. */
const COMMANDS = (tenant: string): string[][] => [
  ['status'],
  ['hold', 'list'],
  ['hold', 'list', '--json'],
  ['failed', tenant],
  ['inbox', 'list', '--tenant', tenant],
  ['tenant', 'list'],
  ['doctor', tenant],
  ['audit', 'verify'],
  ['audit', 'export'],
  ['person', 'due', tenant],
  ['person', 'receipts', tenant, '--json'],
];

/** Their code says what they found; a question may be closed while it is answered. */
const TELLING = /^(doctor|failed|hold answer)\b/;

async function main(): Promise<void> {
  const rounds = ROUNDS.filter((round) => nameOf(round).includes(values.only));
  if (rounds.length === 0) throw new Error(`no round is called ${values.only}: ${ROUNDS.map(nameOf).join('; ')}`);
  for (const round of rounds) {
    const started = performance.now();
    const { looks, planted } = await play(round).catch((error: unknown) => {
      process.stderr.write(`${nameOf(round)}: ${inspect(error)}\n`);
      const failed: Look = { when: 'failed', found: {}, faults: [String(error).split('\n', 1)[0] ?? ''] };
      return { looks: [failed], planted: 0 };
    });
    const places = [...new Set(looks.flatMap(({ found }) => Object.keys(found)))].toSorted();
    const rows = looks.map(({ when, found, faults }) => [
      when,
      ...places.map((place) => String(found[place] ?? 0)),
      faults.join('; ') || 'ok',
    ]);
    const seconds = Math.round((performance.now() - started) / 1_000);
    process.stdout.write(`${nameOf(round)}, ${seconds} s\n`);
    process.stdout.write(`${renderTable([`of ${planted} canaries`, ...places, ''], rows)}\n\n`);
    if (planted < LEAST || looks.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  }
}

/** Ends the wait for what hangs, and says what that was. */
async function within<T>(what: string, seconds: number, waited: Promise<T>): Promise<T> {
  const [limit, started] = [patience(seconds * 1_000), performance.now()];
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Not within ${Math.round(limit / 1_000)} s: ${what}`)), limit);
  try {
    return await Promise.race([waited, late.promise]);
  } finally {
    clearTimeout(timer);
    const took = (performance.now() - started) / 1_000;
    if (values.keep || took > 10) process.stderr.write(`${took.toFixed(1)} s: ${what}\n`);
  }
}

function nameOf({ store, hris, isEncrypted = false, isKept = false }: Round): string {
  return `${store} ${hris}${isEncrypted ? ' encrypted' : ''}${isKept ? ' retention' : ''}`;
}

async function play(round: Round): Promise<{ looks: Look[]; planted: number }> {
  const closing: (() => Promise<unknown>)[] = [];
  const root = await mkdtemp(join(tmpdir(), 'hirebridge-canaries-'));
  if (!values.keep) closing.push(() => rm(root, { recursive: true, force: true }));
  const folder = async (name: string): Promise<string> => {
    await mkdir(join(root, name));
    return join(root, name);
  };
  try {
    const { path: cliPath } = await within(
      'Temporal is installed',
      300,
      resolveTemporalCli({ onProgress: showCliProgress() }),
    );
    const [temp] = [await folder('tmp'), await folder('crash'), await folder('backups'), await folder('temporal')];
    const dbFile = join(root, 'temporal', 'temporal.db');
    const logFile = join(root, 'temporal', 'temporal.log');
    const temporal = await within('Temporal starts', 60, startDevServer({ cliPath, headless: true, dbFile, logFile }));
    closing.push(() => temporal.stop());
    const hr = await within('the HR system starts', 180, HR_SYSTEMS[round.hris](root));
    closing.push(() => hr.close());
    const keys = `file:${join(root, 'keys')}`;
    if (round.isEncrypted === true) addKey(keys, '2026-11-26');
    const store = round.store === 'sqlite' ? undefined : await within('PostgreSQL starts', 120, startStore(closing));
    const { notify, notified } = await startHook(closing);
    const starting = startWorld({
      ...hr.options,
      ...(store === undefined ? {} : { storeUrl: store.url }),
      temporalAddress: temporal.address,
      jobs: 2,
      candidates: PEOPLE,
      policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 5s }\n  cancel: { grace: 2s }',
      writeBack: `status: hired\n${OWN}${hr.settings}notify: { url: "${notify}" }`,
      env: {
        ...hr.options.env,
        LOG_LEVEL: 'trace',
        TMPDIR: temp,
        ...(round.isEncrypted === true ? { HIREBRIDGE_KEYS: keys } : {}),
      },
    });
    const world = await within('the sandbox starts', 120, starting);
    closing.push(() => world.close());
    await writeFile(join(world.tenantsDir, 'pay.yaml'), mapping(hr));
    const people = await within('people are planted', 120, plant(world, HIRED));
    const said: string[] = [];
    const cli = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await within(`hirebridge ${args.join(' ')}`, 180, world.cli(args));
      said.push(stdout, stderr);
      if (code !== 0 && !TELLING.test(args.join(' ')))
        throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return stdout;
    };
    let worker: Awaited<ReturnType<World['startWorker']>> | undefined;
    const restartWorker = async (): Promise<void> => {
      worker?.child.kill('SIGTERM');
      await worker?.ended;
      worker = await world.startWorker();
    };
    const ground: Ground = {
      round,
      root,
      world,
      hr,
      people,
      said,
      notified,
      isVerbose: values.keep,
      cli,
      restartWorker,
    };
    if (store !== undefined) ground.cluster = store.cluster;
    await hireAll(ground);
    const looks = await search(ground);
    return { looks, planted: people.flatMap(({ canaries }) => canaries).length };
  } finally {
    for (const close of closing.toReversed())
      await within('everything ends', 60, close()).catch((error) => process.stderr.write(`${inspect(error)}\n`));
  }
}

/** A server for the store alone. What it packs could not be searched: nothing is packed. */
async function startStore(closing: (() => Promise<unknown>)[]) {
  const {
    url: serverUrl,
    cluster,
    stop,
  } = await startPostgres({
    settings: { wal_recycle: 'off', wal_init_zero: 'on' },
  });
  closing.push(stop);
  const url = await newDatabase(serverUrl);
  await (await openStore(url)).close();
  const columns = await rowsOf(
    url,
    `select format('alter table %I alter column %I set storage external', table_name, column_name) as statement
      from information_schema.columns where table_schema = 'public' and data_type in ('text', 'bytea', 'jsonb')`,
  );
  await rowsOf(url, columns.map((one) => (one as { statement: string }).statement).join('; '));
  return { url, cluster };
}

/** Where the tenant is told of its holds. */
async function startHook(closing: (() => Promise<unknown>)[]) {
  const notified: string[] = [];
  const hook = createServer(async (request, response) => {
    notified.push(JSON.stringify(request.headers), await textOf(request));
    response.end();
  });
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  closing.push(async () => {
    hook.closeAllConnections();
    hook.close();
  });
  return { notify: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`, notified };
}

/**
 * Hires among faults, an HR system that refuses everybody at first, a worker that crashes, people who are turned down,
 * and questions, at the loudest level.
 */
async function hireAll({ round, root, world, hr, people, cli, restartWorker }: Ground): Promise<void> {
  await world.startReceiver();
  // As docs/security.md says: with `unlimited` the core that is left here holds what the worker had read.
  const via = ['bash', '-c', `cd "${join(root, 'crash')}" && ulimit -c ${values.cores} && exec "$0" "$@"`];
  const worker = await world.startWorker({}, { via });
  await until('the baseline', async () => {
    const state = await inStore(world, (store) => readTenantState(store, world.tenant));
    return state.baseline_done_at !== null;
  });
  const hired = people.filter(({ jobCandidateId }) => jobCandidateId !== undefined);
  const ids = hired.map(({ jobCandidateId }) => Number(jobCandidateId));
  const mails = hired.map(({ canaries, words = '' }): [string, string] => {
    const mail = canaries.find(({ kind }) => kind === 'e-mail')?.token ?? '';
    return [`${mail}@canary.example`, words];
  });
  // Two of three: whoever is taken at once has another way.
  await hr.refuse(new Map(mails.filter((_, nth) => nth % 3 !== 0)));
  const move = (jobCandidateIds: number[], stageType: 'HIRED' | 'SCREEN') =>
    world.control.act('move', { jobCandidateIds, stageType });
  const faults = ['server-error', 'answer-lost', 'reset-before', 'truncated-body', 'html-body'] as const;
  for (const kind of faults) await world.control.act('addFault', { kind, probability: 0.05, times: 6 });
  for (const operation of BROKEN)
    await world.control.act('addFault', { kind: 'truncated-body', on: operation, times: 2 });
  await move(ids.slice(0, HIRED / 2), 'HIRED');
  await move(ids.slice(HIRED / 2), 'HIRED');
  await until('somebody is enrolled', async () => (await world.effects('enrolment')).length > 0);
  worker.child.kill('SIGABRT');
  if ((await worker.ended) !== 'SIGABRT') throw new Error('the worker did not crash');
  await restartWorker();
  await world.control.act('clearFaults', {});
  // Turned down again: what they left must go as well.
  await move(ids.slice(-2), 'SCREEN');
  await until(
    'the HR system refused somebody',
    async () => {
      await world.finishOnboardings();
      return (await heldBy(world)).length > 0;
    },
    { timeoutMs: 300_000, everyMs: 1_000 },
  );
  for (const command of COMMANDS(world.tenant)) await cli(...command);
  await hr.accept();
  const staying = HIRED - 2;
  await until(
    'the rest is hired',
    async () => {
      await world.finishOnboardings();
      for (const code of await heldBy(world)) await cli('hold', 'answer', code, 'retry', '--all');
      return (await writtenBack(world)).size >= staying;
    },
    { timeoutMs: 300_000, everyMs: 1_000, instead: () => cli('hold', 'list') },
  );
  await until('documents are delivered', async () => (await hr.files()) >= staying, { timeoutMs: 120_000 });
  for (const id of await hr.ids()) {
    const row = await inStore(world, ({ kysely }) =>
      kysely.selectFrom('hires').select('candidate_id').where('employee_number', '=', id).executeTakeFirst(),
    );
    people.find(({ candidateId }) => String(candidateId) === row?.candidate_id)?.canaries.push(canary('id', id));
  }
  process.stderr.write(`${nameOf(round)}: ${await hr.files()} documents delivered\n`);
}

/** Reasons that can be answered by trying again. */
async function heldBy(world: World): Promise<string[]> {
  const open = await inStore(world, ({ kysely }) =>
    kysely
      .selectFrom('holds')
      .select(['code', 'answers'])
      .where('closed_at', 'is', null)
      .where('answered_at', 'is', null)
      .execute(),
  );
  return [...new Set(open.filter(({ answers }) => answers.includes('"retry"')).map(({ code }) => code))];
}

/** Looks while everybody is there, after one person was erased, and after the tenant was. */
async function search(ground: Ground): Promise<Look[]> {
  const { root, round, world, people, cli } = ground;
  const looks: Look[] = [];
  const all = people.flatMap(({ canaries }) => canaries);
  const backup = async (name: string): Promise<void> =>
    round.store === 'sqlite' ? void (await cli('backup', join(root, 'backups', name))) : undefined;
  await backup('before');
  const atWork = await lookFor(ground, all);
  const isBlind = round.isEncrypted !== true && !atWork.has('store');
  const faults = [...elsewhere(round, atWork), ...(isBlind ? ['the search finds nothing at all'] : [])];
  looks.push({ when: 'at work', found: counts(atWork), faults });
  ground.said.length = 0;
  looks.push(await exported(ground));
  const hired = await inStore(world, ({ kysely }) =>
    kysely.selectFrom('hires').select('candidate_id').where('state', '=', 'done').execute(),
  );
  const done = hired.map((row) => row.candidate_id);
  const person = people.find(({ candidateId }) => done.includes(String(candidateId)));
  if (person === undefined) throw new Error('nobody was hired');
  const who = `candidate:${person.candidateId}`;
  await cli('person', 'find', world.tenant, who);
  await cli('person', 'erase', world.tenant, who, '--employee', 'keep', '--reason', 'asked for', '--yes');
  await backup('after');
  looks.push({ when: 'one person erased: theirs', ...(await nowhere(ground, person.canaries)) });
  const rest = people.filter((one) => one !== person).flatMap(({ canaries }) => canaries);
  const others = await lookFor(ground, rest);
  looks.push({ when: 'and of all others', found: counts(others), faults: elsewhere(round, others) });
  await rm(join(root, 'backups'), { recursive: true });
  if (round.isKept === true) looks.push(await afterRetention(ground, all));
  else {
    const gone = ['--erase', '--landing', 'delete', '--reason', 'end of contract', '--yes'];
    await cli('tenant', 'remove', world.tenant, ...gone);
    looks.push({ when: 'tenant erased', ...(await nowhere(ground, all)) });
  }
  return looks;
}

/** Removed and not erased, a tenant's values go by its retention; ids of hires and holds stay (docs/privacy.md). */
async function afterRetention(ground: Ground, all: readonly Canary[]): Promise<Look> {
  const { world, cli, restartWorker } = ground;
  const file = join(world.tenantsDir, `${world.tenant}.yaml`);
  const settings = await readFile(file, 'utf8');
  await writeFile(file, settings.replace('policies:\n', 'policies:\n  retention: { plans: 1s, writes: 1s }\n'));
  await cli('tenant', 'apply', '--yes');
  await cli('tenant', 'remove', world.tenant);
  const valuesOnly = all.filter((one) => !isId(one) && !isTold(one));
  const when = 'removed, after its retention';
  const until = performance.now() + patience(300_000);
  for (;;) {
    await restartWorker();
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    const look = await nowhere(ground, valuesOnly);
    if (look.faults.length === 0) return { when, ...look };
    if (performance.now() > until)
      return { when, ...look, faults: [...look.faults, ...(await tablesWith(world, valuesOnly))] };
  }
}

/** What is exported of a person holds all of their words that the store has, and nobody else's. */
async function exported(ground: Ground): Promise<Look> {
  const { root, round, world, people, cli } = ground;
  const found: Record<string, number> = { export: 0 };
  const faults: string[] = [];
  for (const person of people.filter(({ jobCandidateId }) => jobCandidateId !== undefined).slice(0, 5)) {
    const file = join(root, `export-${person.candidateId}.json`);
    await cli('person', 'export', world.tenant, `candidate:${person.candidateId}`, '--out', file);
    const text = tokensIn(await readFile(file));
    const theirs = person.canaries.filter(({ token }) => text.has(token));
    const others = people.filter((one) => one !== person).flatMap(({ canaries }) => canaries);
    const strange = others.filter(({ token }) => text.has(token)).length;
    found['export'] = (found['export'] ?? 0) + theirs.length;
    const stored = (await lookFor(ground, person.canaries)).get('store') ?? new Set<Canary>();
    const missing = [...stored].filter((one) => !theirs.includes(one));
    if (theirs.length === 0 || (missing.length > 0 && round.isEncrypted !== true))
      faults.push(`${missing.map(({ kind }) => kind).join(', ')} not in the export of candidate ${person.candidateId}`);
    if (strange > 0) faults.push(`${strange} of others in the export of candidate ${person.candidateId}`);
  }
  return { when: 'exported', found, faults };
}

await main();
