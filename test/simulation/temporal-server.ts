import type { Activities } from '../../activities/create-activities.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { currentProcess, type Process } from './processes.ts';
import type { Timeline } from './timeline.ts';
import { type ActivityOptions, currentWorkflow, type WorkflowHost } from './workflow-double.ts';

type Workflow = (input: never) => Promise<unknown>;

/** A process that takes activity tasks. */
export interface ActivityWorker {
  process: Process;
  activities: Activities;
}

export interface Run extends WorkflowHost {
  id: string;
  type: string;
  input: unknown;
  lost: boolean;
  started: boolean;
}

export interface Task {
  run: Run;
  name: string;
  input: unknown;
  options: ActivityOptions;
  attempt: number;
  /** The execution whose report counts; others are late. */
  execution: object | undefined;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** What one activity attempt ended with: for the oracle. */
export interface Attempt {
  at: number;
  workflowId: string;
  name: string;
  input: unknown;
  attempt: number;
  error?: unknown;
  value?: unknown;
}

export interface TemporalOptions {
  timeline: Timeline;
  random: Random;
  workflows: Record<string, Workflow>;
  /** Chance that a workflow is told its history is long. */
  longHistories: number;
}

/** What Temporal knows: its runs, the activities they wait for, and what the oracle asks about. */
export interface TemporalServer extends TemporalOptions {
  runs: Map<string, Run>;
  /** What workflows gave, by id. */
  results: Map<string, unknown>;
  tasks: Set<Task>;
  workers: ActivityWorker[];
  attempts: Attempt[];
  failures: Array<{ workflowId: string; error: unknown }>;
}

/** Temporal takes a few milliseconds for everything. */
export function soon({ random }: TemporalServer): number {
  return 1 + random() * 20;
}

/** Runs a function after so many milliseconds of the seed's time. */
export function after({ timeline }: TemporalServer, ms: number, then: () => void): void {
  timeline.at(timeline.now() + ms, then);
}

/** Lets a workflow act once, after which every condition is looked at again. */
export function activate(run: Run, act: () => void): void {
  currentProcess.exit(() =>
    currentWorkflow.run(run, () => {
      act();
      for (const waiting of run.conditions) {
        if (!waiting.met()) continue;
        run.conditions.delete(waiting);
        waiting.cancel();
        waiting.resolve(true);
      }
    }),
  );
}
