import { AsyncLocalStorage } from 'node:async_hooks';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Activities } from '../../activities/create-activities.ts';
import { toFailure } from '../../activities/failures.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { currentProcess, type Process } from './processes.ts';
import type { Timeline } from './timeline.ts';
import { type ActivityOptions, ContinueAsNew, currentWorkflow, type WorkflowHost } from './workflow-double.ts';

type Workflow = (input: never) => Promise<unknown>;

/** A process that takes activity tasks. */
export interface ActivityWorker {
  process: Process;
  activities: Activities;
}

interface Run extends WorkflowHost {
  id: string;
  type: string;
  input: unknown;
  lost: boolean;
  started: boolean;
}

interface Task {
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

/** In whose course something happens: for the oracle. */
export const currentAttempt = new AsyncLocalStorage<Attempt>();

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

export interface TemporalDouble {
  workers: ActivityWorker[];
  attempts: Attempt[];
  /** Workflows that ended with an error: none ever should. */
  failures: Array<{ workflowId: string; error: unknown }>;
  /** Every start and signal that Temporal took, by workflow id. */
  accepted: Map<string, number[]>;
  /** Temporal answers nobody. */
  away: boolean;
  running(): string[];
  signalWithStart(id: string, type: string, input: unknown, signal?: { name: string; args: unknown[] }): void;
  signal(id: string, name: string, args: unknown[]): void;
  /** Temporal's own store is deleted. */
  forget(): void;
  /** Attempts that are under way or wait for their retry. */
  busy(): number;
  /** Every workflow's pending activity, for a report of what hangs. */
  pending(): string[];
}

export interface TemporalOptions {
  timeline: Timeline;
  random: Random;
  workflows: Record<string, Workflow>;
  /** Chance that a workflow is told its history is long. */
  longHistories: number;
}

/** Temporal's promises without Temporal: workflows that outlive workers, activities retried until they answer, signals kept. */
export function createTemporalDouble({ timeline, random, workflows, longHistories }: TemporalOptions): TemporalDouble {
  const runs = new Map<string, Run>();
  const tasks = new Set<Task>();
  const soon = (): number => 1 + random() * 20;

  const temporal: TemporalDouble = {
    workers: [],
    attempts: [],
    failures: [],
    accepted: new Map(),
    away: false,
    running: () => [...runs.keys()],
    signalWithStart(id, type, input, signal) {
      note(id);
      const run = runs.get(id) ?? open(id, type, input);
      if (signal !== undefined) deliver(run, signal.name, signal.args);
    },
    signal(id, name, args) {
      const run = runs.get(id);
      if (run === undefined) throw new WorkflowNotFoundError('no such workflow', id, undefined);
      note(id);
      deliver(run, name, args);
    },
    forget() {
      for (const run of runs.values()) run.lost = true;
      runs.clear();
      tasks.clear();
    },
    busy: () => tasks.size,
    pending: () => [...tasks].map((task) => `${task.run.id} ${task.name} #${task.attempt}`),
  };

  function note(id: string): void {
    temporal.accepted.set(id, [...(temporal.accepted.get(id) ?? []), timeline.now()]);
  }

  function open(id: string, type: string, input: unknown): Run {
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
      callActivity: (name, activityInput, options) => schedule(run, name, activityInput, options),
      isHistoryLong: () => random() < longHistories,
    };
    runs.set(id, run);
    timeline.at(timeline.now() + soon(), () => begin(run));
    return run;
  }

  function begin(run: Run): void {
    if (run.lost) return;
    run.started = true;
    currentProcess.exit(() =>
      currentWorkflow.run(run, () => {
        const workflow = workflows[run.type] as (input: unknown) => Promise<unknown>;
        workflow(run.input).then(
          () => end(run),
          (error: unknown) => {
            end(run);
            if (run.lost) return;
            if (error instanceof ContinueAsNew) continueRun(run, error.args[0]);
            else temporal.failures.push({ workflowId: run.id, error });
          },
        );
      }),
    );
  }

  function end(run: Run): void {
    if (runs.get(run.id) === run) runs.delete(run.id);
  }

  function continueRun(run: Run, input: unknown): void {
    const next = runs.get(run.id) ?? open(run.id, run.type, input);
    next.input = input;
  }

  function deliver(run: Run, name: string, args: unknown[]): void {
    timeline.at(timeline.now() + soon(), () => {
      // Taken by a run that was about to end: Temporal hands it over, and the run ends all the same.
      if (run.lost || runs.get(run.id) !== run) return;
      activate(run, () => {
        const handler = run.handlers.get(name);
        if (handler === undefined) run.early.push({ name, args });
        else handler(...args);
      });
    });
  }

  /** One turn of a workflow, after which every condition is looked at again. */
  function activate(run: Run, turn: () => void): void {
    currentProcess.exit(() =>
      currentWorkflow.run(run, () => {
        turn();
        for (const waiting of run.conditions) {
          if (!waiting.met()) continue;
          run.conditions.delete(waiting);
          waiting.cancel();
          waiting.resolve(true);
        }
      }),
    );
  }

  function schedule(run: Run, name: string, input: unknown, options: ActivityOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const task: Task = {
        run,
        name,
        input: structuredClone(input),
        options,
        attempt: 1,
        execution: undefined,
        resolve,
        reject,
      };
      tasks.add(task);
      timeline.at(timeline.now() + soon(), () => dispatch(task));
    });
  }

  function dispatch(task: Task): void {
    if (task.run.lost || !tasks.has(task)) return;
    const ready = temporal.workers.filter(({ process }) => process.alive && process.stoppedUntil <= timeline.now());
    const worker = ready[Math.floor(random() * ready.length)];
    if (worker === undefined) {
      timeline.at(timeline.now() + 500, () => dispatch(task));
      return;
    }
    execute(task, worker);
  }

  function execute(task: Task, { process, activities }: ActivityWorker): void {
    const execution = {};
    task.execution = execution;
    const record: Attempt = {
      at: timeline.now(),
      workflowId: task.run.id,
      name: task.name,
      input: task.input,
      attempt: task.attempt,
    };
    temporal.attempts.push(record);
    const isCurrent = (): boolean => !task.run.lost && tasks.has(task) && task.execution === execution;
    const timeOut = (): void => {
      if (isCurrent()) retry(task, undefined);
    };
    const heartbeatMs = milliseconds(task.options.heartbeatTimeout) ?? 60_000;
    process.onLost.push(() => {
      timeline.at(timeline.now() + heartbeatMs, () => {
        if (!process.alive || process.stoppedUntil > timeline.now()) timeOut();
      });
    });
    timeline.at(timeline.now() + (milliseconds(task.options.startToCloseTimeout) ?? 60_000), timeOut);
    const report = (done: () => void): void => {
      process.later(soon(), () => {
        if (isCurrent()) done();
      });
    };
    const run = activities[task.name as keyof Activities] as (input: unknown) => Promise<unknown>;
    currentWorkflow.exit(() =>
      currentProcess.run(process, () => {
        currentAttempt
          .run(record, () => run(structuredClone(task.input)))
          .then(
            (value) => {
              record.value = value;
              report(() => complete(task, value));
            },
            (error: unknown) => {
              record.error = error;
              report(() => retry(task, error));
            },
          );
      }),
    );
  }

  function complete(task: Task, value: unknown): void {
    tasks.delete(task);
    activate(task.run, () => task.resolve(structuredClone(value)));
  }

  function retry(task: Task, error: unknown): void {
    const { retry: policy = {} } = task.options;
    if (policy.maximumAttempts !== undefined && task.attempt >= policy.maximumAttempts) {
      tasks.delete(task);
      activate(task.run, () => task.reject(new Error(`${task.name} failed too often`, { cause: error })));
      return;
    }
    const initial = milliseconds(policy.initialInterval) ?? 1_000;
    const most = milliseconds(policy.maximumInterval) ?? initial * 100;
    const failure = error === undefined ? undefined : toFailure(error);
    const asked = milliseconds(failure?.nextRetryDelay as number | string | undefined);
    const wait = asked ?? Math.min(most, initial * 2 ** Math.min(20, task.attempt - 1));
    task.attempt += 1;
    task.execution = undefined;
    timeline.at(timeline.now() + wait, () => dispatch(task));
  }

  return temporal;
}

const units: Record<string, number> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

function milliseconds(duration: number | string | undefined): number | undefined {
  if (duration === undefined || typeof duration === 'number') return duration;
  const [amount = '0', unit = ''] = duration.split(' ');
  return Number(amount) * (units[unit.replace(/s$/, '')] ?? 1);
}
