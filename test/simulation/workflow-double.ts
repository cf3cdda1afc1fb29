/**
 * Stands in for @temporalio/workflow in the simulation's process: the product's own workflow functions run on it
 * unchanged.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export { ActivityFailure, ApplicationFailure } from '@temporalio/common';

/** What a running workflow asks of whoever runs it. */
export interface WorkflowHost {
  now(): number;
  at(ms: number, run: () => void): () => void;
  callActivity(name: string, input: unknown, options: ActivityOptions): Promise<unknown>;
  /** Drawn at each question: a history may be suggested to be long at any time. */
  isHistoryLong(): boolean;
  handlers: Map<string, (...args: unknown[]) => void>;
  /** Signals that came before their handler was set. */
  early: Array<{ name: string; args: unknown[] }>;
  conditions: Set<{ met: () => boolean; resolve: (met: boolean) => void; cancel: () => void }>;
}

export interface ActivityOptions {
  startToCloseTimeout?: number | string;
  heartbeatTimeout?: number | string;
  retry?: { initialInterval?: number | string; maximumInterval?: number | string; maximumAttempts?: number };
}

export const currentWorkflow = new AsyncLocalStorage<WorkflowHost>();

function host(): WorkflowHost {
  const found = currentWorkflow.getStore();
  if (found === undefined) throw new Error('No workflow runs here');
  return found;
}

export class ContinueAsNew extends Error {
  readonly args: unknown[];
  constructor(args: unknown[]) {
    super('continued as new');
    this.args = args;
  }
}

export function proxyActivities<T>(options: ActivityOptions): T {
  return new Proxy({} as object, {
    get: (_target, name) => (input: unknown) => host().callActivity(String(name), input, options),
  }) as T;
}

export function defineSignal(name: string): { type: 'signal'; name: string } {
  return { type: 'signal', name };
}

export function setHandler(definition: { name: string }, handler: (...args: unknown[]) => void): void {
  const { handlers, early } = host();
  handlers.set(definition.name, handler);
  for (const signal of early.splice(0)) handler(...signal.args);
}

export function condition(met: () => boolean, timeoutMs?: number): Promise<boolean> {
  const { conditions, at } = host();
  if (met()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const waiting = { met, resolve, cancel: (): void => undefined };
    conditions.add(waiting);
    if (timeoutMs === undefined) return;
    waiting.cancel = at(timeoutMs, () => {
      if (conditions.delete(waiting)) resolve(met());
    });
  });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => host().at(ms, resolve));
}

export function continueAsNew(...args: unknown[]): Promise<never> {
  return Promise.reject(new ContinueAsNew(args));
}

export function allHandlersFinished(): boolean {
  return true;
}

export function workflowInfo(): { continueAsNewSuggested: boolean; taskQueue: string } {
  return {
    taskQueue: 'hbsimulation/work',
    get continueAsNewSuggested() {
      return host().isHistoryLong();
    },
  };
}

export function patched(): boolean {
  return true;
}

export function deprecatePatch(): void {
  // Nothing is replayed here.
}

const silent = (): void => undefined;
export const log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };
