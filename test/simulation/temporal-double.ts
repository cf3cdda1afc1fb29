import { WorkflowNotFoundError } from '@temporalio/client';
import { currentProcess, type Process } from './processes.ts';
import {
  type ActivityWorker,
  type Attempt,
  activate,
  after,
  type Run,
  soon,
  type TemporalOptions,
  type TemporalServer,
} from './temporal-server.ts';
import { schedule } from './temporal-tasks.ts';
import { ContinueAsNew, currentWorkflow } from './workflow-double.ts';

export interface TemporalDouble {
  workers: ActivityWorker[];
  attempts: Attempt[];
  /** Workflows that ended with an error: none ever should. */
  failures: Array<{ workflowId: string; error: unknown }>;
  /** Every start and signal that Temporal took, by workflow id. */
  accepted: Map<string, number[]>;
  /** Temporal answers nobody. */
  away: boolean;
  /** This process takes no more tasks. */
  leave(process: Process): void;
  running(): string[];
  /** What a workflow gave when it ended last. */
  result(id: string): unknown;
  signalWithStart(id: string, type: string, input: unknown, signal?: { name: string; args: unknown[] }): void;
  signal(id: string, name: string, args: unknown[]): void;
  /** Temporal's own store is deleted. */
  forget(): void;
  /** Attempts that are under way or wait for their retry. */
  busy(): number;
  /** Every workflow's pending activity, for a report of what hangs. */
  pending(): string[];
}

/**
 * Temporal's promises without Temporal: workflows outlive workers, activities are retried until they answer, signals
 * kept.
 */
export function createTemporalDouble(options: TemporalOptions): TemporalDouble {
  const server: TemporalServer = {
    ...options,
    runs: new Map(),
    results: new Map(),
    tasks: new Set(),
    workers: [],
    attempts: [],
    failures: [],
  };
  const { runs, tasks, workers, attempts, failures, timeline } = server;
  const accepted = new Map<string, number[]>();
  const note = (id: string): void => void accepted.set(id, [...(accepted.get(id) ?? []), timeline.now()]);
  return {
    workers,
    attempts,
    failures,
    accepted,
    away: false,
    leave(process) {
      const at = workers.findIndex((worker) => worker.process === process);
      if (at >= 0) workers.splice(at, 1);
    },
    running: () => [...runs.keys()],
    result: (id) => server.results.get(id),
    signalWithStart(id, type, input, signal) {
      note(id);
      const run = runs.get(id) ?? open(server, id, type, input);
      if (signal !== undefined) deliver(server, run, signal.name, signal.args);
    },
    signal(id, name, args) {
      const run = runs.get(id);
      if (run === undefined) throw new WorkflowNotFoundError('no such workflow', id, undefined);
      note(id);
      deliver(server, run, name, args);
    },
    forget() {
      for (const run of runs.values()) run.lost = true;
      runs.clear();
      server.results.clear();
      tasks.clear();
    },
    busy: () => tasks.size,
    pending: () => [...tasks].map((task) => `${task.run.id} ${task.name} #${task.attempt}`),
  };
}

function open(server: TemporalServer, id: string, type: string, input: unknown): Run {
  const { timeline, random, longHistories } = server;
  const run: Run = {
    id,
    type,
    input,
    lost: false,
    started: false,
    now: timeline.now,
    handlers: new Map(),
    early: [],
    conditions: new Set(),
    at: (ms, then) => timeline.at(timeline.now() + ms, () => !run.lost && activate(run, then)),
    callActivity: (name, activityInput, options) => schedule(server, { run, name, input: activityInput, options }),
    isHistoryLong: () => random() < longHistories,
  };
  server.runs.set(id, run);
  after(server, soon(server), () => begin(server, run));
  return run;
}

function begin(server: TemporalServer, run: Run): void {
  if (run.lost) return;
  run.started = true;
  currentProcess.exit(() =>
    currentWorkflow.run(run, () => {
      const workflow = server.workflows[run.type] as (input: unknown) => Promise<unknown>;
      workflow(run.input).then(
        (result) => end(server, run, result),
        (error: unknown) => fail(server, run, error),
      );
    }),
  );
}

function end({ runs, results }: TemporalServer, run: Run, result?: unknown): void {
  if (runs.get(run.id) !== run) return;
  runs.delete(run.id);
  if (result !== undefined) results.set(run.id, result);
}

function fail(server: TemporalServer, run: Run, error: unknown): void {
  end(server, run);
  if (run.lost) return;
  if (error instanceof ContinueAsNew) continueRun(server, run, error.args[0]);
  else server.failures.push({ workflowId: run.id, error });
}

function continueRun(server: TemporalServer, run: Run, input: unknown): void {
  const next = server.runs.get(run.id) ?? open(server, run.id, run.type, input);
  next.input = input;
}

function deliver(server: TemporalServer, run: Run, name: string, args: unknown[]): void {
  after(server, soon(server), () => {
    // Taken by a run that was about to end: Temporal hands it over, and the run ends all the same.
    if (run.lost || server.runs.get(run.id) !== run) return;
    activate(run, () => {
      const handler = run.handlers.get(name);
      if (handler === undefined) run.early.push({ name, args });
      else handler(...args);
    });
  });
}
