import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Places } from '../../config.ts';
import type { LedgerRow } from '../../sandbox/records/ledger.ts';
import { listHolds } from '../../store/holds.ts';
import type { Store } from '../../store/open-store.ts';
import { listStreams } from '../../store/streams.ts';
import { countsOf } from '../../streams/page-outcome.ts';
import type { StreamCounts } from '../../streams/stream-activities.ts';
import { pullStreams } from '../../streams/streams.ts';
import { MAIN_FILE, type Supervisor } from '../supervise.ts';
import type { EmployeeRow, HrisTables } from './hris.ts';
import { type Cast, hire, PATIENCE_MS, playOnboarding, setStartDate } from './recruiting.ts';
import { type HireView, observeHires, type Screen } from './report.ts';
import { countJobs, demoStreams, openPosition, type Stage } from './stage.ts';

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
    if (isOver(seen, play) || stop.aborted || performance.now() > until) {
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

function isOver({ views }: Seen, { cast }: Play): boolean {
  return views.length === Object.keys(cast).length && views.every((view) => view.verified);
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

/** What went from the HR systems to the partner; `diverged` counts values that differ at the end. */
export interface Streamed {
  seconds: { requisition: number; correctedNumber: number; crossedEdits: number };
  diverged: number;
}

const CORRECTED = '900001';
/** The city that each side enters at the same moment; the mapping decides which edit stays. */
const CITIES = { hris: 'Bergen', partner: 'Tromsø' };

/**
 * HR corrects the number of a hired person, and edits their city while the recruiter edits it too; the second customer
 * opens a position that must become a job. Waits until all of it has arrived, or patience ends.
 */
export async function playStreams(
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

async function shownNumber({ partner }: Stage, onboardingCandidateId: string): Promise<unknown> {
  const { data } = await partner.onboarding.getCandidate({ params: { onboardingCandidateId } });
  return (data.externalStatus as { employeeId?: unknown } | null | undefined)?.employeeId;
}

/** A wait that takes longer is told. */
const QUIET_MS = 60_000;

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

/** Records of each stream: at the partner, and in the HRIS's landing table. */
export type Pulled = Record<DemoStream, { partner: number; hris: number }>;

type DemoStream = (typeof demoStreams)[number];

/** Waits until every stream has landed all of the partner's records, or patience ends. */
export async function untilPulled({ partner: client }: Stage, tables: HrisTables, stop: AbortSignal): Promise<Pulled> {
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

export function isPulled(pulled: Partial<Pulled>): boolean {
  return Object.values(pulled).every(({ partner, hris }) => partner === hris && partner > 0);
}

/**
 * A finished run of every stream, by `<tenant>/<stream>`: the latest, or the next to end if the latest is in progress,
 * because a run's counts are complete only at its end. When patience ends, a run is counted as it is.
 */
export async function countStreams(store: Store, stop: AbortSignal): Promise<Record<string, StreamCounts>> {
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
