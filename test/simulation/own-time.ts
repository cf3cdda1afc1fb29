import crypto from 'node:crypto';
import { getEventListeners } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Random } from '../../src/sandbox/random.ts';
import { currentProcess } from './processes.ts';
import type { Timeline } from './timeline.ts';

let timeline: Timeline | undefined;
let random: Random = () => 0.5;

/** From now on the product's clocks, timers and chance are those of this seed. */
export function ownTime(of: Timeline, chance: Random): void {
  timeline = of;
  random = chance;
}

const RealDate = Date;
const realNow = Date.now.bind(Date);
const now = (): number => timeline?.now() ?? realNow();

/** Replaces this process's clocks, timers and chance, once. Only the simulation's own process ever calls this. */
export function takeOverTime(): void {
  globalThis.Date = class extends RealDate {
    constructor(...given: ConstructorParameters<DateConstructor> | []) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
    static override now(): number {
      return now();
    }
  } as DateConstructor;
  performance.now = now;
  Math.random = () => random();
  globalThis.setTimeout = ((run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    later(ms, () => run(...args))) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Cancel | undefined) => timer?.cancel()) as typeof clearTimeout;
  timers.setTimeout = pause as typeof timers.setTimeout;
  AbortSignal.timeout = timeoutSignal;
  crypto.randomUUID = seededUuid;
  syncBuiltinESMExports();
}

interface Cancel {
  cancel: () => void;
  unref: () => Cancel;
}

function later(ms: number, run: () => void): Cancel {
  const process = currentProcess.getStore();
  const cancel = process === undefined ? timeline!.at(now() + ms, run) : process.later(ms, run);
  const timer: Cancel = { cancel, unref: () => timer };
  return timer;
}

function pause<T>(ms = 0, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = later(ms, () => resolve(value));
    signal?.addEventListener('abort', () => {
      timer.cancel();
      reject(signal.reason as Error);
    });
  });
}

function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  later(ms, () => {
    if (getEventListeners(signal, 'abort').length > 0 || !signal.aborted)
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  });
  return signal;
}

function seededUuid(): ReturnType<typeof crypto.randomUUID> {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
