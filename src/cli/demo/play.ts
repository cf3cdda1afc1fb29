import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Places } from '../../config.ts';
import type { LedgerRow } from '../../sandbox/records/ledger.ts';
import { listHolds } from '../../store/holds.ts';
import type { Store } from '../../store/open-store.ts';
import { MAIN_FILE, type Supervisor } from '../supervise.ts';
import {
  type Cast,
  type EmployeeRow,
  type HireView,
  hire,
  observeHires,
  PATIENCE_MS,
  playOnboarding,
  setStartDate,
} from './recruiting.ts';
import type { Stage } from './stage.ts';

/** Shows the demo's progress: bars on a terminal, otherwise a line for each change. */
export interface Screen {
  say(line: string): void;
  /** `held`: job candidates whose hire waits for a person. */
  show(views: readonly HireView[], held: ReadonlySet<string>): void;
  /** Leaves the last state on the screen. */
  stop(): void;
}

export interface Play extends Places {
  stage: Stage;
  cast: Cast;
  supervisor: Supervisor;
  /** Read only to see which hires wait for a person; nothing is counted from it. */
  store: Store;
  screen: Screen;
  stop: AbortSignal;
}

export interface Seen {
  ledger: LedgerRow[];
  employees: EmployeeRow[];
  views: HireView[];
}

const TURN_MS = 250;

/**
 * Plays the five hires and their onboarding, answers the one that waits; returns once all are verified or time is up.
 */
export async function playHires(play: Play): Promise<Seen> {
  const { stage, stop } = play;
  const script = hireThem(play);
  script.catch(() => undefined);
  let holdAnswered: Promise<void> | undefined;
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look(play);
    const held = await heldHires(play.store);
    play.screen.show(seen.views, new Set(held.keys()));
    const holdId = held.get(String(play.cast.noStartDate.jobCandidateId));
    if (holdId !== undefined) holdAnswered ??= answerHold(play, holdId);
    const isOver = seen.views.length === Object.keys(play.cast).length && seen.views.every(({ verified }) => verified);
    if (isOver || stop.aborted || performance.now() > until) {
      await Promise.all([script, holdAnswered]);
      return seen;
    }
    await playOnboarding(stage.control, stage.partner, seen.views);
    await Promise.race([
      pause(TURN_MS, undefined, { signal: stop }).catch(() => undefined),
      failureOf(script),
      failureOf(holdAnswered),
    ]);
  }
}

/** What both sides show now. */
async function look({ stage, cast }: Pick<Play, 'stage' | 'cast'>): Promise<Seen> {
  const ledger = await stage.control.ledger({});
  const employees = await stage.hris.employees();
  const people = new Map(Object.values(cast).map((one) => [String(one.jobCandidateId), String(one.candidateId)]));
  return { ledger, employees, views: observeHires(ledger, employees, people, stage.company) };
}

/** The recruiter's five hires, one of them made while no worker runs. */
async function hireThem({ stage, cast, supervisor, screen }: Play): Promise<void> {
  const { control } = stage;
  await hire(control, [cast.plain, cast.together]);
  await hire(control, [cast.twice]);
  for (let again = 0; again < 2; again += 1)
    await control.act('announceHired', { jobCandidateIds: [cast.twice.jobCandidateId] });
  await hire(control, [cast.noStartDate]);
  await untilLedger(
    stage,
    (ledger) => ledger.filter((row) => row.kind === 'effect' && row.name === 'enrolment').length >= 2,
  );
  await supervisor.suspend('worker');
  screen.say('The worker is killed (SIGKILL), and one more person is hired.');
  const before = (await delivered(stage)).length;
  await hire(control, [cast.workerDead]);
  await untilLedger(stage, async () => (await delivered(stage)).length > before);
  screen.say('Meanwhile the receiver stored the event. The worker starts again.');
  supervisor.resume('worker');
}

async function delivered({ control }: Stage): Promise<LedgerRow[]> {
  return control.ledger({ kind: 'delivery', name: 'candidate.hired', status: 200 });
}

async function untilLedger(
  { control }: Stage,
  met: (ledger: LedgerRow[]) => boolean | Promise<boolean>,
): Promise<void> {
  for (const until = performance.now() + 60_000; performance.now() < until; await pause(100)) {
    if (await met(await control.ledger({}))) return;
  }
}

/** Open holds by job candidate. */
async function heldHires(store: Store): Promise<Map<string, string>> {
  const holds = await listHolds(store);
  return new Map(
    holds.filter((hold) => hold.answered_at === null).map((hold) => [hold.job_candidate_id ?? '', hold.hold_id]),
  );
}

/** Fills in the missing start date at the partner, and answers the hold with the command that an operator would use. */
async function answerHold({ stage, cast, screen, tenantsDir, dataDir }: Play, holdId: string): Promise<void> {
  const { jobCandidateId } = cast.noStartDate;
  screen.say(`Hire ${jobCandidateId} waits for a person: it has no start date. The recruiter fills it in.`);
  await setStartDate(stage.partner, cast.noStartDate);
  screen.say(`$ hirebridge hold answer ${holdId} retry`);
  const args = ['hold', 'answer', holdId, 'retry', '--tenants', tenantsDir, '--data', dataDir];
  const child = spawn(process.execPath, [MAIN_FILE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => stage.print(String(chunk).trimEnd()));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`"hirebridge hold answer ${holdId} retry" ended with exit code ${String(code)}.`);
}

/** Never resolves: it only lets a failure of `work` end a wait. */
function failureOf(work: Promise<void> | undefined): Promise<never> {
  return new Promise((_resolve, reject) => void work?.catch(reject));
}
