import { AsyncLocalStorage } from 'node:async_hooks';
import { ActivityFailure } from '@temporalio/common';
import { inScope } from '../../activities/activity-scope.ts';
import { type Activities, toFailure } from '../../activities/create-activities.ts';
import { currentProcess } from './processes.ts';
import {
  type ActivityWorker,
  type Attempt,
  activate,
  after,
  soon,
  type Task,
  type TemporalServer,
} from './temporal-server.ts';
import { type ActivityOptions, currentWorkflow } from './workflow-double.ts';

/** In whose course something happens: for the oracle. */
export const currentAttempt = new AsyncLocalStorage<Attempt>();

/** What a workflow asks for when it calls an activity. */
export type ActivityCall = Pick<Task, 'run' | 'name' | 'input' | 'options'>;

/** Calls an activity for a workflow: it is tried until it answers or its policy ends the tries. */
export function schedule(server: TemporalServer, call: ActivityCall): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const input = structuredClone(call.input);
    const task: Task = { ...call, input, attempt: 1, execution: undefined, resolve, reject };
    server.tasks.add(task);
    after(server, soon(server), () => dispatch(server, task));
  });
}

function dispatch(server: TemporalServer, task: Task): void {
  const { timeline, random, tasks } = server;
  if (task.run.lost || !tasks.has(task)) return;
  const ready = server.workers.filter(({ process }) => process.alive && process.stoppedUntil <= timeline.now());
  const worker = ready[Math.floor(random() * ready.length)];
  if (worker === undefined) after(server, 500, () => dispatch(server, task));
  else execute(server, task, worker);
}

function execute(server: TemporalServer, task: Task, worker: ActivityWorker): void {
  const { process } = worker;
  const execution = {};
  task.execution = execution;
  const record = recordOf(server, task);
  server.attempts.push(record);
  const ifCurrent = (done: () => void): void => {
    if (!task.run.lost && server.tasks.has(task) && task.execution === execution) done();
  };
  limitTime(server, task, worker, () => ifCurrent(() => retry(server, task, undefined)));
  const report = (done: () => void): void => {
    process.later(soon(server), () => ifCurrent(done));
  };
  attemptIn(worker, record, (failed) => {
    report(() => (failed ? retry(server, task, record.error) : complete(server, task, record.value)));
  });
}

function recordOf({ timeline }: TemporalServer, { run, name, input, attempt }: Task): Attempt {
  return { at: timeline.now(), workflowId: run.id, name, input, attempt };
}

/** Gives an attempt up when it takes too long, or when no heartbeat comes from a process that is gone. */
function limitTime(server: TemporalServer, { options }: Task, { process }: ActivityWorker, giveUp: () => void): void {
  const heartbeatMs = milliseconds(options.heartbeatTimeout) ?? 60_000;
  process.onLost.push(() => {
    after(server, heartbeatMs, () => {
      if (!process.alive || process.stoppedUntil > server.timeline.now()) giveUp();
    });
  });
  after(server, milliseconds(options.startToCloseTimeout) ?? 60_000, giveUp);
}

/** Runs the activity in its process and notes how it ended. */
function attemptIn({ process, activities }: ActivityWorker, record: Attempt, ended: (failed: boolean) => void): void {
  const run = activities[record.name as keyof Activities] as (input: unknown) => Promise<unknown>;
  const succeed = (value: unknown): void => {
    record.value = value;
    ended(false);
  };
  const fail = (error: unknown): void => {
    record.error = error;
    ended(true);
  };
  currentWorkflow.exit(() =>
    currentProcess.run(process, () => {
      // As a worker does: what an activity waits for depends on whether it has called.
      const input = structuredClone(record.input) as { tenantId: string };
      const tenantHere = `${process.pid} ${input.tenantId}`;
      const attempt = () => inScope(new AbortController().signal, tenantHere, () => run(input));
      currentAttempt.run(record, attempt).then(succeed, fail);
    }),
  );
}

function complete({ tasks }: TemporalServer, task: Task, value: unknown): void {
  tasks.delete(task);
  activate(task.run, () => task.resolve(structuredClone(value)));
}

function retry(server: TemporalServer, task: Task, error: unknown): void {
  const { retry: policy = {} } = task.options;
  const failure = error === undefined ? undefined : toFailure(error);
  if (failure?.nonRetryable === true) {
    server.tasks.delete(task);
    const failed = new ActivityFailure('Activity task failed', task.name, '', 'NON_RETRYABLE_FAILURE', '', failure);
    activate(task.run, () => task.reject(failed));
    return;
  }
  if (policy.maximumAttempts !== undefined && task.attempt >= policy.maximumAttempts) {
    server.tasks.delete(task);
    activate(task.run, () => task.reject(new Error(`${task.name} failed too often`, { cause: error })));
    return;
  }
  const wait = retryDelay(policy, task.attempt, error);
  task.attempt += 1;
  task.execution = undefined;
  after(server, wait, () => dispatch(server, task));
}

function retryDelay(policy: NonNullable<ActivityOptions['retry']>, attempt: number, error: unknown): number {
  const initial = milliseconds(policy.initialInterval) ?? 1_000;
  const most = milliseconds(policy.maximumInterval) ?? initial * 100;
  const failure = error === undefined ? undefined : toFailure(error);
  const asked = milliseconds(failure?.nextRetryDelay as number | string | undefined);
  return asked ?? Math.min(most, initial * 2 ** Math.min(20, attempt - 1));
}

const units: Record<string, number> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

function milliseconds(duration: number | string | undefined): number | undefined {
  if (duration === undefined || typeof duration === 'number') return duration;
  const [amount = '0', unit = ''] = duration.split(' ');
  return Number(amount) * (units[unit.replace(/s$/, '')] ?? 1);
}
