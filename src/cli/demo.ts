import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { storeUrl } from '../config.ts';
import { readStatus } from '../operator/status.ts';
import type { LedgerRow } from '../sandbox/records/ledger.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { listStreams } from '../store/streams.ts';
import { countsOf } from '../streams/page-outcome.ts';
import type { StreamCounts } from '../streams/stream-activities.ts';
import { pullStreams } from '../streams/streams.ts';
import { EXIT, type ExitCode, example, integer, placesOf, renderTable } from './command.ts';
import { type Play, playHires, type Screen, type Seen } from './demo/play.ts';
import {
  type Cast,
  castHires,
  DEMO_KINDS,
  describeStory,
  type EmployeeRow,
  type HireView,
  type HrisTables,
  PATIENCE_MS,
  playStory,
  type StoryFacts,
} from './demo/recruiting.ts';
import { buildStage, countJobs, demoStreams, openPosition, type Stage, type StageOptions } from './demo/stage.ts';
import { stopSignal } from './part.ts';
import { startUp, type Up } from './up.ts';

/** Stages: hired, enrolled, two onboarding steps, onboarding finished, employee, written back and verified. */
const WHOLE = 7;

type DemoStream = (typeof demoStreams)[number];

/** Records of each stream: at the partner, and in the HRIS's landing table. */
type Pulled = Record<DemoStream, { partner: number; hris: number }>;

/** The demo's counts, taken from the sandbox's ledger and the HRIS's tables, never from the connector's store. */
interface DemoReport {
  hires: number;
  enrolments: number;
  creditsSpent: number;
  employees: number;
  distinctEmployeeNumbers: number;
  writeBacksVerified: number;
  seconds: { temporalCli: number; ready: number; hires: number };
}

/** What went from the HR systems to the partner; `diverged` counts values that differ at the end. */
interface Streamed {
  seconds: { requisition: number; correctedNumber: number; crossedEdits: number };
  diverged: number;
}

const CORRECTED = '900001';
/** The city that each side enters at the same moment; the mapping decides which edit stays. */
const CITIES = { hris: 'Bergen', partner: 'Tromsø' };

/** A wait that takes longer is told. */
const QUIET_MS = 60_000;

export const commands = { demo: defineDemo };

function defineDemo(command: Command): void {
  command
    .description(
      'Show everything on one machine: a sandbox partner, a played recruiter, five hires, one HRIS. Runs until Ctrl-C.',
    )
    .option('--once', 'end after the table: exit code 0 when every hire is verified, 1 otherwise')
    .option('--report <file>', 'write the counts as JSON')
    .addOption(
      new Option(
        '--hris <kind>',
        'the HR system; all except sql are installed first: with apt-get, scim with pip, odoo as root in a folder',
      )
        .choices(DEMO_KINDS)
        .default('sql'),
    )
    .addOption(
      new Option(
        '--story <name>',
        'play one person from application to employment instead of the five hires; with sql, postgresql or mariadb',
      ).choices(['recruiting']),
    )
    .option('--seed <n>', 'seed of the made-up people', integer(0, 2 ** 31), 7)
    .addHelpText(
      'after',
      example('hirebridge demo', 'hirebridge demo --once --hris tryton', 'hirebridge demo --once --story recruiting'),
    )
    .action(runDemoCommand);
}

async function runDemoCommand(options: Omit<DemoOptions, 'dataDir'>, command: Command): Promise<void> {
  const stop = stopSignal();
  process.exitCode = await runDemo({ dataDir: (await placesOf(command)).dataDir, ...options }, stop);
}

interface DemoOptions extends StageOptions {
  once?: boolean;
  report?: string;
}

interface Outcome {
  stage: Stage;
  cast: Cast;
  up: Up;
  seen: Seen;
  report: WholeReport;
}

interface WholeReport extends DemoReport {
  /** Empty if the HR system has no tables for them. */
  pulled: Partial<Pulled>;
  streams: Record<string, StreamCounts>;
  /** Values that differ at the end, counted from the sandbox and the HR systems. */
  diverged: number;
  seconds: DemoReport['seconds'] & Partial<Streamed['seconds']>;
}

/** Plays the demo; the exit code says whether every hire became exactly one employee, written back and verified. */
async function runDemo(options: DemoOptions, stop: AbortSignal): Promise<ExitCode> {
  // The demo has its own store, regardless of this environment's store.
  delete process.env['HIREBRIDGE_STORE_URL'];
  // The demo's data directory is new each time; keep the bundle outside it, so that it is built only once.
  process.env['HIREBRIDGE_BUNDLE_DIR'] = join(options.dataDir, 'cache');
  const ends: (() => Promise<void>)[] = [];
  try {
    return await play(options, stop, ends);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

async function play(options: DemoOptions, stop: AbortSignal, ends: (() => Promise<void>)[]): Promise<ExitCode> {
  const started = performance.now();
  if (options.hris !== 'sql') say(`Starts ${options.hris}, and installs missing parts.`);
  const stage = await buildStage(options);
  ends.push(stage.close);
  try {
    say('A hiring platform with 3 jobs, 40 candidates and 10 people hired long ago is running.');
    const cast = await castHires(stage.partner);
    const places = { tenantsDir: stage.tenantsDir, dataDir: join(stage.dir, 'data') };
    const up = await startUp({ ...places, port: stage.webhookPort, print: stage.print }, stop);
    ends.push(up.close);
    await up.ready;
    const store = await openStore(storeUrl(places.dataDir));
    ends.push(store.close);
    await untilBaseline(store, up, stop);
    const { cliSeconds } = up.temporal;
    const ready = round(secondsSince(started) - cliSeconds);
    say('Temporal, receiver and worker are ready. The ten people hired long ago are recorded and stay untouched.');
    const { story, hris } = stage;
    if (story !== undefined) return await tellStory(options, { stage, story, tables: hris.tables, up, stop });
    const hiring = performance.now();
    const seen = await show({ ...places, stage, cast, store, stop, supervisor: up.supervisor });
    const seconds = { temporalCli: cliSeconds, ready, hires: secondsSince(hiring) };
    const counts = countReport(seen.ledger, seen.employees, seen.views, seconds);
    const report = await withStreams({ stage, store, seen, stop }, counts);
    return await conclude(options, { stage, cast, up, seen, report });
  } catch (error) {
    // What it waited for did not come, because its parts end.
    if (stop.aborted) return EXIT.interrupted;
    await tellFailure(stage);
    throw error;
  }
}

interface Told extends Pick<Play, 'stage' | 'stop'> {
  story: StoryFacts;
  tables: HrisTables | undefined;
  up: Up;
}

export function countReport(
  ledger: readonly LedgerRow[],
  employees: readonly EmployeeRow[],
  hires: readonly HireView[],
  seconds: DemoReport['seconds'],
): DemoReport {
  const count = (name: string) => ledger.filter((row) => row.kind === 'effect' && row.name === name).length;
  return {
    hires: hires.length,
    enrolments: count('enrolment'),
    creditsSpent: count('onboarding-credit'),
    employees: employees.length,
    distinctEmployeeNumbers: new Set(employees.map((employee) => employee.number)).size,
    writeBacksVerified: hires.filter((hire) => hire.verified).length,
    seconds,
  };
}

/** The exit code says whether the records of both sides agree. */
async function tellStory(options: DemoOptions, { stage, story, tables, up, stop }: Told): Promise<ExitCode> {
  if (tables === undefined)
    throw new Error('The story needs an HR system with tables: --hris sql, postgresql or mariadb.');
  const playing = playStory({ stage, facts: story, tables, stop, say });
  const judged = await Promise.race([playing, up.supervisor.failed]);
  say(`\n${describeStory(judged)}\n`);
  if (options.report !== undefined) await writeFile(options.report, `${JSON.stringify(judged, null, 2)}\n`);
  const good = judged.every(({ agrees }) => agrees);
  if (!good) await tellFailure(stage);
  if (options.once !== true) {
    say(describePlaces(stage, up));
    await up.untilStopped;
  }
  if (good) stage.forget();
  return good ? EXIT.done : EXIT.error;
}

async function withStreams(
  { stage, store, seen, stop }: Pick<Play, 'stage' | 'store' | 'stop'> & { seen: Seen },
  counts: DemoReport,
): Promise<WholeReport> {
  const { tables } = stage.hris;
  if (tables === undefined) return { ...counts, pulled: {}, streams: {}, diverged: 0 };
  const pulled = await untilPulled(stage, tables, stop);
  say('HR corrects the employee number of one of the five, and their city while the recruiter edits it too.');
  say('A second customer opens a position in its HR system.');
  const streamed = await playStreams({ stage, tables, views: seen.views }, stop);
  const unequal = Object.values(pulled).reduce((sum, { partner, hris }) => sum + Math.abs(partner - hris), 0);
  const streams = await countStreams(store, stop);
  const seconds = { ...counts.seconds, ...streamed.seconds };
  return { ...counts, pulled, streams, diverged: streamed.diverged + unequal, seconds };
}

/**
 * HR corrects the number of a hired person, and edits their city while the recruiter edits it too; the second customer
 * opens a position that must become a job. Waits until all of it has arrived, or patience ends.
 */
async function playStreams(
  { stage, tables, views }: { stage: Stage; tables: HrisTables; views: readonly HireView[] },
  stop: AbortSignal,
): Promise<Streamed> {
  const [enrolment] = views[0]?.enrolmentIds ?? [];
  const [employee] = views[0]?.employees ?? [];
  const candidateId = employee?.reference?.split(':')[1] ?? '';
  const employeeId = employee?.id ?? '';
  await tables.edit(employeeId, { number: CORRECTED, city: CITIES.hris });
  await stage.partner.candidates.update({ params: { candidateId }, body: { city: CITIES.partner } });
  openPosition(stage.second);
  const isCrossed = async (): Promise<boolean> => {
    const { data } = await stage.partner.candidates.get({ params: { candidateId } });
    return data.city === CITIES.hris && (await tables.readCity(employeeId)) === CITIES.hris;
  };
  const [crossed, job, number] = await Promise.all([
    timed('the city that both sides edited', isCrossed, stop),
    timed('the job of the open position', async () => (await countJobs(stage.second)) > 0, stop),
    timed('the corrected number', async () => (await shownNumber(stage, enrolment ?? '')) === CORRECTED, stop),
  ]);
  const jobs = await countJobs(stage.second);
  const isCorrected = (await shownNumber(stage, enrolment ?? '')) === CORRECTED;
  return {
    seconds: { requisition: job, correctedNumber: number, crossedEdits: crossed },
    diverged: Math.abs(jobs - 1) + (isCorrected ? 0 : 1) + ((await isCrossed()) ? 0 : 1),
  };
}

/** Seconds until `holds` is true, or until patience ends. */
async function timed(what: string, holds: () => Promise<boolean>, stop: AbortSignal): Promise<number> {
  const began = performance.now();
  const notice = setTimeout(() => process.stderr.write(`Still waiting for ${what}.\n`), QUIET_MS);
  try {
    while (!(await holds()) && !stop.aborted && performance.now() < began + PATIENCE_MS) await pause(250);
  } finally {
    clearTimeout(notice);
  }
  return Math.round((performance.now() - began) / 100) / 10;
}

async function shownNumber({ partner }: Stage, onboardingCandidateId: string): Promise<unknown> {
  const { data } = await partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
  return (data.externalStatus as { employeeId?: unknown } | null | undefined)?.employeeId;
}

/** Waits until every stream has landed all of the partner's records, or patience ends. */
async function untilPulled({ partner: client }: Stage, tables: HrisTables, stop: AbortSignal): Promise<Pulled> {
  const lists = await Promise.all(demoStreams.map((name) => client.readAll(pullStreams[name].list, {})));
  const partner = new Map<DemoStream, number>(
    demoStreams.map((name, index) => [name, lists[index]?.items.length ?? 0]),
  );
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const countOf = async (name: DemoStream) => ({
      partner: partner.get(name) ?? 0,
      hris: await tables.count(`partner_${name}`),
    });
    const pulled = { candidates: await countOf('candidates'), jobs: await countOf('jobs') };
    if (isPulled(pulled) || stop.aborted || performance.now() > until) return pulled;
    await pause(200);
  }
}

/**
 * A finished run of every stream, by `<tenant>/<stream>`: the latest, or the next to end if the latest is in progress,
 * because a run's counts are complete only at its end. When patience ends, a run is counted as it is.
 */
async function countStreams(store: Store, stop: AbortSignal): Promise<Record<string, StreamCounts>> {
  const ended = new Map<string, StreamCounts>();
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const rows = await listStreams(store);
    const isLast = stop.aborted || performance.now() > until;
    const counted = rows.map((row) => ({ row, key: `${row.tenant_id}/${row.stream}` }));
    for (const { row, key } of counted) {
      if (!ended.has(key) && (isLast || row.state !== 'running')) ended.set(key, countsOf(row));
    }
    if (ended.size === rows.length) return Object.fromEntries(ended);
    await pause(50);
  }
}

async function show(play: Omit<Play, 'screen'>): Promise<Seen> {
  const stories = Object.values(play.cast).map((one): [string, string] => [String(one.jobCandidateId), one.story]);
  const screen = process.stdout.isTTY ? createBars(new Map(stories)) : createLines(new Map(stories));
  try {
    return await playHires({ ...play, screen });
  } finally {
    screen.stop();
  }
}

function createLines(stories: ReadonlyMap<string, string>): Screen {
  const shown = new Map<string, string>();
  return {
    say: (line) => void process.stdout.write(`${line}\n`),
    show(views, held) {
      for (const view of views) {
        const stage = stageOf(view, held);
        if (shown.get(view.jobCandidateId) === stage) continue;
        shown.set(view.jobCandidateId, stage);
        process.stdout.write(`  ${progressOf(view)}/${WHOLE} ${title(view, stories)}  ${stage}\n`);
      }
    },
    stop: () => undefined,
  };
}

function createBars(stories: ReadonlyMap<string, string>): Screen {
  const bars = new MultiBar(
    { format: ' {bar} {hire}  {stage}', barsize: 21, hideCursor: true, forceRedraw: true },
    Presets.shades_classic,
  );
  const known = new Map<string, SingleBar>();
  return {
    say: (line) => bars.log(`${line}\n`),
    show(views, held) {
      for (const view of views) {
        const facts = { hire: title(view, stories), stage: stageOf(view, held) };
        const bar = known.get(view.jobCandidateId) ?? bars.create(WHOLE, 0, facts);
        known.set(view.jobCandidateId, bar);
        bar.update(progressOf(view), facts);
      }
      bars.update();
    },
    stop: () => bars.stop(),
  };
}

function stageOf(view: HireView, held: ReadonlySet<string>): string {
  const [employee] = view.employees;
  if (view.verified) return `employee ${employee?.number ?? ''}, written back and verified`;
  if (held.has(view.jobCandidateId)) return 'waits for a person';
  if (view.writtenBack !== undefined) return 'written back';
  if (employee !== undefined) return `employee ${employee.number}`;
  if (view.onboardingDone) return 'onboarding done';
  if (view.enrolmentIds.length > 0) return `onboarding, ${view.stepsVerified} of its steps verified`;
  return 'hired';
}

function progressOf(view: HireView): number {
  const done = [view.enrolmentIds.length > 0, view.onboardingDone, view.employees.length > 0, view.verified];
  return 1 + done.filter(Boolean).length + Math.min(view.stepsVerified, 2);
}

function title(view: HireView, stories: ReadonlyMap<string, string>): string {
  return `${view.jobCandidateId} ${(stories.get(view.jobCandidateId) ?? '').padEnd(31)}`;
}

/** Prints table, report and addresses; then the demo keeps running unless it was asked to end. */
async function conclude(options: DemoOptions, { stage, cast, up, seen, report }: Outcome): Promise<ExitCode> {
  say(`\n${describeHires(cast, seen)}\n`);
  if (options.report !== undefined) await writeFile(options.report, `${JSON.stringify(report, null, 2)}\n`);
  const played = Object.keys(cast).length;
  const { pulled, streams: _streams, diverged, ...counts } = report;
  const good = isAsPlayed(counts, played) && isPulled(pulled) && diverged === 0;
  say(describeCounts(report));
  if (!good) await tellFailure(stage);
  if (options.once !== true) {
    say(`\n${describePlaces(stage, up)}`);
    await up.untilStopped;
  }
  if (good) stage.forget();
  return good ? EXIT.done : EXIT.error;
}

function isPulled(pulled: Partial<Pulled>): boolean {
  return Object.values(pulled).every(({ partner, hris }) => partner === hris && partner > 0);
}

/** Whether there is exactly one of each for every hire that was played. */
export function isAsPlayed(report: DemoReport, played: number): boolean {
  const { seconds: _seconds, ...counts } = report;
  return Object.values(counts).every((count) => count === played);
}

/** The first reconcile records earlier hires; no new hire starts before it ends. */
async function untilBaseline(store: Store, up: Up, stop: AbortSignal): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const [tenant] = (await readStatus(store, [{ tenantId: 'demo', webhooks: 'on' }])).tenants;
    if (tenant?.baseline === 'done') return;
    if (stop.aborted || performance.now() > until) throw new Error('The baseline was not finished in time.');
    await Promise.race([pause(100), up.supervisor.failed]);
  }
}

async function tellFailure(stage: Stage): Promise<void> {
  const lines = await stage.lastLines();
  process.stderr.write(`\nThe last lines of its parts (all of them: ${join(stage.dir, 'demo.log')}):\n${lines}\n`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function secondsSince(start: number): number {
  return round((performance.now() - start) / 1000);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function describeHires(cast: Cast, { views }: Seen): string {
  const rows = Object.values(cast).map((one) => {
    const view = views.find(({ jobCandidateId }) => jobCandidateId === String(one.jobCandidateId));
    const spent = view?.writtenAt === undefined ? '-' : ((view.writtenAt - view.hiredAt) / 1000).toFixed(1);
    const enrolment = view?.enrolmentIds.map((id) => id.slice(0, 8)).join(', ') ?? '';
    const number = view?.employees.map((employee) => employee.number).join(', ') ?? '';
    return [
      `${one.jobCandidateId} ${one.story}`,
      enrolment || '-',
      number || '-',
      view?.verified === true ? 'yes' : 'no',
      spent,
    ];
  });
  return renderTable(['hire', 'enrolment', 'employee number', 'written back and verified', 'seconds'], rows);
}

function describePlaces(stage: Stage, up: Up): string {
  return [
    `Temporal         ${up.temporal.uiUrl ?? up.temporal.address}`,
    `sandbox control  ${stage.controlUrl}`,
    `receiver health  ${up.urls.get('serve.health') ?? ''}/readyz`,
    `worker health    ${up.urls.get('worker.health') ?? ''}/readyz`,
    `tenant file      ${join(stage.tenantsDir, 'demo.yaml')}`,
    `log of its parts ${join(stage.dir, 'demo.log')}`,
    'Stays until Ctrl-C.',
  ].join('\n');
}

function describeCounts(
  report: DemoReport & { pulled: Partial<Pulled>; diverged: number; seconds: Partial<Streamed['seconds']> },
): string {
  const { hires, enrolments, employees, writeBacksVerified, pulled, seconds } = report;
  const streamed = Object.entries(pulled).map(([name, { hris, partner }]) => `${hris} of ${partner} ${name}`);
  const made = `${hires} hires, ${enrolments} enrolments, ${employees} employees`;
  const line = `${made}, ${writeBacksVerified} written back and verified in ${seconds.hires} s.`;
  if (streamed.length === 0) return line;
  return [
    line,
    `${streamed.join(' and ')} pulled into the HR system's tables.`,
    `The position was a job after ${seconds.requisition} s, ` +
      `the corrected number back after ${seconds.correctedNumber} s.`,
    `The city, edited on both sides at once, was the same on both after ${seconds.crossedEdits} s.`,
    `Unequal at the end: ${report.diverged}.`,
  ].join('\n');
}
