import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SeedLine } from './play-seeds.ts';

/** The command that plays one seed again. */
export const again = (seed: number): string => `npm run simulate -- --seed ${seed} --trace`;

export interface SeedRange {
  from: number;
  count: number;
  processes: number;
  /** More for the environment of each process. */
  env?: Record<string, string>;
  /** The module that plays the seeds; a test brings another. */
  player?: string;
  /** Ends all processes when it says true. */
  isEnough?: (line: SeedLine) => boolean;
}

const PLAYER = fileURLToPath(new URL('./seed-process.ts', import.meta.url));
/** No seed takes a second; one that takes this long does not end. */
const SEED_MS = 120_000;

/** Plays the seeds in processes of their own. A process that dies or hangs is a failed seed, and another goes on after it. */
export async function playInProcesses(range: SeedRange, note: (line: SeedLine) => void): Promise<void> {
  const { from, count, processes } = range;
  const running = new Set<ChildProcess>();
  let enough = false;
  const hear = (line: SeedLine): void => {
    if (enough) return;
    note(line);
    enough = range.isEnough?.(line) ?? false;
    if (enough) for (const child of running) child.kill();
  };
  const playLane = async (first: number): Promise<void> => {
    let seed = first;
    while (seed < from + count && !enough) {
      const played = await playUntilDeath(range, seed, running, hear);
      seed += played.count * processes;
      if (seed >= from + count || enough) return;
      hear({ seed, ms: 0, holds: {}, hires: 0, compared: 0, violations: [`its process ${played.ending}`] });
      seed += processes;
    }
  };
  await Promise.all(Array.from({ length: processes }, (_, nth) => playLane(from + nth)));
}

/** One process, from this seed to the last of its lane or to its death. */
async function playUntilDeath(
  { from, count, processes, player = PLAYER, env = {} }: SeedRange,
  seed: number,
  running: Set<ChildProcess>,
  hear: (line: SeedLine) => void,
): Promise<{ count: number; ending: string }> {
  const child = spawn(process.execPath, [player, String(seed), String(from + count), String(processes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  running.add(child);
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  let played = 0;
  let hangs = false;
  const watch = setTimeout(() => {
    hangs = true;
    child.kill('SIGKILL');
  }, SEED_MS);
  for await (const line of createInterface({ input: child.stdout! })) {
    watch.refresh();
    played += 1;
    hear(JSON.parse(line) as SeedLine);
  }
  const [code, signal] = await closed;
  clearTimeout(watch);
  running.delete(child);
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
  return { count: played, ending: hangs ? `did not end it within ${SEED_MS / 1000} s` : `${how} in its course` };
}
