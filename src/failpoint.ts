import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';

/**
 * Points at which a test may kill or stop this process: directly before and after each call to another system and each
 * write to the store. Nothing happens unless a test armed one; the list of points is recorded from a real run, never
 * written by hand.
 */
interface Arming {
  /** `ACTIVITY/CALL/before|after`, optionally `#N` for the Nth pass: the process kills itself there with SIGKILL. */
  killAt?: string | undefined;
  /** In the same form: the process stops itself there with SIGSTOP, until it gets SIGCONT. */
  stopAt?: string | undefined;
  /** File to which each passed point is appended. */
  listFile?: string | undefined;
}

let arming: Arming = {};
const passed = new Map<string, number>();
const activity = new AsyncLocalStorage<string>();

export function armFailpoints(points: Arming): void {
  arming = points;
}

/** Names the activity, or its part, for the points passed while `run` runs. */
export function inActivity<T>(name: string, run: () => Promise<T>): Promise<T> {
  return activity.run(name, run);
}

/** Runs a call to another system, or a write, between its two points, whether it succeeds or fails. */
export async function withFailpoints<T>(call: string, run: () => Promise<T>): Promise<T> {
  passFailpoint(`${call}/before`);
  try {
    return await run();
  } finally {
    passFailpoint(`${call}/after`);
  }
}

export function passFailpoint(name: string): void {
  const { killAt, stopAt, listFile } = arming;
  if (killAt === undefined && stopAt === undefined && listFile === undefined) return;
  const point = `${activity.getStore() ?? 'loop'}/${name}`;
  const times = (passed.get(point) ?? 0) + 1;
  passed.set(point, times);
  if (listFile !== undefined) appendFileSync(listFile, `${point}\n`);
  if (isNow(killAt, point, times)) process.kill(process.pid, 'SIGKILL');
  if (isNow(stopAt, point, times)) process.kill(process.pid, 'SIGSTOP');
}

function isNow(armed: string | undefined, point: string, times: number): boolean {
  const [wanted, nth = '1'] = (armed ?? '').split('#');
  return wanted === point && times === Number(nth);
}
