import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const floorModes = ['bytes', 'json', 'zod', 'upsert'] as const;
export type FloorMode = (typeof floorModes)[number];

export interface FloorPull {
  mode: FloorMode;
  origin: string;
  path: string;
  key: string;
  pages: number;
  concurrency: number;
  databaseUrl: string;
}

export interface Spent {
  seconds: number;
  cpuSeconds: number;
}

const PROCESS = fileURLToPath(new URL('./floor-pull-process.ts', import.meta.url));

/** One pass of the bare loop in a process of its own; its start does not count. */
export async function floorPull(pull: FloorPull): Promise<Spent> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS, JSON.stringify(pull)]);
  return JSON.parse(stdout) as Spent;
}
