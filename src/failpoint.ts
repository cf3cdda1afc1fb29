import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';

/**
 * Places where a test may kill or stop this process: directly before and after each foreign call and each write to the
 * store. Nothing
 * happens unless a test armed one; the list of points is recorded from a real run, never written by hand.
 */
interface Arming {
  /** `ACTIVITY/CALL/before|after`, optionally `#N` for the Nth time it is passed: the process dies there by SIGKILL. */
  killAt?: string | undefined;
  /** The same form: the process stands still there, by SIGSTOP, until somebody sends SIGCONT. */
  stopAt?: string | undefined;
  /** Each point passed is appended to this file. */
  listFile?: string | undefined;
}

let arming: Arming = {};
const passed = new Map<string, number>();
const activity = new AsyncLocalStorage<string>();

export function armFailpoints(points: Arming): void {
  arming = points;
}

/** Names the activity, or its part, in whose course the points inside are passed. */
export function inActivity<T>(name: string, run: () => Promise<T>): Promise<T> {
  return activity.run(name, run);
}

/** Runs a foreign call or a write with its two points around it, whether it succeeds or fails. */
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
