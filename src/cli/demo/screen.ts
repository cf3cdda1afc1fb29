import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { HireView } from './observe-hires.ts';

/** Hired, enrolled, two onboarding steps, onboarding finished, employee, written back and verified. */
const WHOLE = 7;

/** Where the demo's progress is shown: bars on a terminal, a line a change anywhere else. */
export interface Screen {
  say(line: string): void;
  /** `held`: job candidates that wait for a person. */
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

/** The furthest thing that is so, strongest first. */
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
