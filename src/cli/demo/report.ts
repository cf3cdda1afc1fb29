import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { LedgerRow } from '../../sandbox/records/ledger.ts';
import type { EmployeeRow } from './hris.ts';

/** The progress of one hire, by the partner's ledger and the HRIS's table. */
export interface HireView {
  jobCandidateId: string;
  /** Epoch ms by the sandbox's clock. */
  hiredAt: number;
  enrolmentIds: string[];
  stepsVerified: number;
  onboardingDone: boolean;
  employees: EmployeeRow[];
  /** The Employee ID at the partner. */
  writtenBack?: string;
  /** When it was written. */
  writtenAt?: number;
  /** The connector read the enrolment again after it wrote the ID. */
  readBack: boolean;
  /** There is one employee, the partner holds exactly its number, and the connector read that back. */
  verified: boolean;
}

/** Candidate ids by job candidate id, from the partner's API. */
type People = ReadonlyMap<string, string>;

const READY: ReadonlySet<unknown> = new Set(['final_handoff', 'completed']);

/**
 * Combines what both sides show about every hire: people moved into a hiring stage (earlier hires never moved), their
 * enrolments and their employees, both found by our reference. Reads nothing from our own store.
 */
export function observeHires(
  ledger: readonly LedgerRow[],
  employees: readonly EmployeeRow[],
  people: People,
  company: string,
): HireView[] {
  const hiredAt = new Map<string, number>();
  for (const row of effects(ledger, 'stage-move').filter(({ detail }) => detail['type'] === 'HIRED')) {
    const id = text(row.subject);
    if (!hiredAt.has(id)) hiredAt.set(id, row.at);
  }
  return [...hiredAt].map(([jobCandidateId, at]) => {
    const reference = `${company}:${people.get(jobCandidateId) ?? ''}`;
    const mine = employees.filter((employee) => employee.reference === reference);
    const onboarding = observeOnboarding(ledger, jobCandidateId);
    const verified = mine.length === 1 && onboarding.readBack && mine[0]?.number === onboarding.writtenBack;
    return { jobCandidateId, hiredAt: at, employees: mine, ...onboarding, verified };
  });
}

function observeOnboarding(ledger: readonly LedgerRow[], jobCandidateId: string) {
  const enrolmentIds = effects(ledger, 'enrolment').flatMap((row) =>
    isFor(row, jobCandidateId) ? [text(row.subject)] : [],
  );
  const mine = ledger.filter((row) => enrolmentIds.includes(text(row.subject)));
  const written = effects(mine, 'external-status').findLast((row) => row.detail['employeeId'] !== undefined);
  const readBack =
    written !== undefined && mine.some((row) => row.name === 'onboarding.getCandidate' && row.seq > written.seq);
  const verifiedSteps = effects(mine, 'onboarding-step').filter((row) => row.detail['status'] === 'verified');
  return {
    enrolmentIds,
    stepsVerified: new Set(verifiedSteps.map((row) => row.detail['stepKey'])).size,
    onboardingDone: effects(mine, 'onboarding-status').some((row) => READY.has(row.detail['to'])),
    readBack,
    ...(written === undefined ? {} : { writtenBack: text(written.detail['employeeId']), writtenAt: written.at }),
  };
}

function effects(ledger: readonly LedgerRow[], name: string): LedgerRow[] {
  return ledger.filter((row) => row.kind === 'effect' && row.name === name);
}

/** Our enrolments carry `hirebridge:<jobCandidateId>:<period>` as externalRef. */
function isFor(row: LedgerRow, jobCandidateId: string): boolean {
  return text(row.detail['externalRef']).split(':')[1] === jobCandidateId;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The demo's counts, taken from the sandbox's ledger and the HRIS's tables, never from the connector's store. */
export interface DemoReport {
  hires: number;
  enrolments: number;
  creditsSpent: number;
  employees: number;
  distinctEmployeeNumbers: number;
  writeBacksVerified: number;
  seconds: { temporalCli: number; ready: number; hires: number };
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

/** Whether there is exactly one of each for every hire that was played. */
export function isAsPlayed(report: DemoReport, played: number): boolean {
  const { seconds: _seconds, ...counts } = report;
  return Object.values(counts).every((count) => count === played);
}

/** Stages: hired, enrolled, two onboarding steps, onboarding finished, employee, written back and verified. */
const WHOLE = 7;

/** Shows the demo's progress: bars on a terminal, otherwise a line for each change. */
export interface Screen {
  say(line: string): void;
  /** `held`: job candidates whose hire waits for a person. */
  show(views: readonly HireView[], held: ReadonlySet<string>): void;
  /** Leaves the last state on the screen. */
  stop(): void;
}

export function createScreen(stories: ReadonlyMap<string, string>): Screen {
  return process.stdout.isTTY ? createBars(stories) : createLines(stories);
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

function title(view: HireView, stories: ReadonlyMap<string, string>): string {
  return `${view.jobCandidateId} ${(stories.get(view.jobCandidateId) ?? '').padEnd(31)}`;
}

function progressOf(view: HireView): number {
  const done = [view.enrolmentIds.length > 0, view.onboardingDone, view.employees.length > 0, view.verified];
  return 1 + done.filter(Boolean).length + Math.min(view.stepsVerified, 2);
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
