import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startTraffic } from './hire-traffic.ts';
import { untilBaseline } from './hiring.ts';
import { type Applicant, until, type World } from './world.ts';

/** Points of faultless runs, in the order and as often as they were passed. */
export interface RecordedPoints {
  /** By the first worker of a tenant, up to its baseline. */
  goLive: string[];
  /** By a later worker, from its start until the hires were done. */
  hires: string[];
}

/** Runs these hires without faults and records every point: the list is what the product really passes. */
export async function recordPoints(world: World, people: readonly Applicant[]): Promise<RecordedPoints> {
  const [goLive, hires] = [join(world.dir, 'go-live.points'), join(world.dir, 'hires.points')];
  await Promise.all([goLive, hires].map((file) => rm(file, { force: true })));
  const first = await world.startWorker({ HIREBRIDGE_FAILPOINT_LIST: goLive });
  await untilBaseline(world);
  await first.stop();
  const second = await world.startWorker({ HIREBRIDGE_FAILPOINT_LIST: hires });
  await hireAll(world, people, hires);
  await second.stop();
  return { goLive: await readPoints(goLive), hires: await readPoints(hires) };
}

async function hireAll(world: World, people: readonly Applicant[], listFile: string): Promise<void> {
  const traffic = startTraffic(world, people);
  await traffic.keep(people.length);
  await until('the end of every hire', async () => {
    const passed = await readPoints(listFile);
    return passed.filter((point) => point === 'verify/store.update.hires/after').length >= people.length;
  });
  await traffic.close();
}

export async function readPoints(listFile: string): Promise<string[]> {
  const text = await readFile(listFile, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Each point once, by its first passing. */
export function distinct(points: readonly string[]): string[] {
  return [...new Set(points)];
}

/** How often calls of one upstream (`partner`, `hris`) were passed, by the call's name. Each has both of its points. */
export function callsOf(upstream: string, points: readonly string[]): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const point of points) {
    const [, call = '', side] = point.split('/');
    if (side !== 'before' || !call.startsWith(`${upstream}.`)) continue;
    const name = call.slice(upstream.length + 1);
    calls[name] = (calls[name] ?? 0) + 1;
  }
  return calls;
}
