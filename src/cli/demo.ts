import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { storeUrl } from '../config.ts';
import { readStatus } from '../operator/status.ts';
import { openStore, type Store } from '../store/open-store.ts';
import type { StreamCounts } from '../streams/stream-activities.ts';
import { EXIT, type ExitCode, example, integer, placesOf, renderTable } from './command.ts';
import { DEMO_KINDS, type DemoKind, type HrisTables } from './demo/hris.ts';
import {
  countStreams,
  isPulled,
  type Play,
  type Pulled,
  playHires,
  playStreams,
  type Seen,
  type Streamed,
  untilPulled,
} from './demo/play.ts';
import { type Cast, castHires, describeStory, PATIENCE_MS, playStory, type StoryFacts } from './demo/recruiting.ts';
import { countReport, createScreen, type DemoReport, isAsPlayed } from './demo/report.ts';
import { buildStage, type Stage, type StageOptions } from './demo/stage.ts';
import { stopSignal } from './part.ts';
import { startUp, type Up } from './up.ts';

interface DemoFlags {
  once?: boolean;
  report?: string;
  seed: number;
  hris: DemoKind;
  story?: 'recruiting';
}

export function defineDemo(command: Command): void {
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

async function runDemoCommand(options: DemoFlags, command: Command): Promise<void> {
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

/** `seconds` says how long each part took. */
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
    await tellFailure(stage);
    throw error;
  }
}

interface Told extends Pick<Play, 'stage' | 'stop'> {
  story: StoryFacts;
  tables: HrisTables | undefined;
  up: Up;
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

/** Plays the streams, and counts how far both sides agree. */
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

async function show(play: Omit<Play, 'screen'>): Promise<Seen> {
  const stories = Object.values(play.cast).map((one): [string, string] => [String(one.jobCandidateId), one.story]);
  const screen = createScreen(new Map(stories));
  try {
    return await playHires({ ...play, screen });
  } finally {
    screen.stop();
  }
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

/** Each hire's outcome, as a table. */
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

/** The addresses to visit while the demo runs. */
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

/** Counts of what was made, pulled and sent, and of what differs. */
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
