import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';

/**
 * Places where a test may kill this process: directly before and after each foreign call and each write to the store. Nothing
 * happens unless a test armed one; the list of points is recorded from a real run, never written by hand.
 */
interface Arming {
  /** `ACTIVITY/CALL/before|after`, optionally `#N` for the Nth time it is passed. */
  killAt?: string | undefined;
  /** Each point passed is appended to this file. */
  listFile?: string | undefined;
}

let arming: Arming = {};
const passed = new Map<string, number>();
const activity = new AsyncLocalStorage<string>();

export function armKillPoints(points: Arming): void {
  arming = points;
}

/** Names the activity in whose course the points inside are passed. */
export function inActivity<T>(name: string, run: () => Promise<T>): Promise<T> {
  return activity.run(name, run);
}

/** Runs a foreign call or a write with its two points around it. */
export async function withKillPoints<T>(call: string, run: () => Promise<T>): Promise<T> {
  passPoint(`${call}/before`);
  const result = await run();
  passPoint(`${call}/after`);
  return result;
}

export function passPoint(name: string): void {
  if (arming.killAt === undefined && arming.listFile === undefined) return;
  const point = `${activity.getStore() ?? 'loop'}/${name}`;
  const times = (passed.get(point) ?? 0) + 1;
  passed.set(point, times);
  if (arming.listFile !== undefined) appendFileSync(arming.listFile, `${point}\n`);
  const [wanted, nth = '1'] = (arming.killAt ?? '').split('#');
  if (wanted === point && times === Number(nth)) process.kill(process.pid, 'SIGKILL');
}
