import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SeedLine } from './play-seeds.ts';
import type { Extra } from './scenario.ts';

/** The command that plays one of them again. */
export function again(play: string): string {
  const [seed, how = ''] = play.split(':');
  const words = how.split(',').filter((word) => word !== '');
  const others = words.filter((word) => word !== 'quirks');
  const quirks = words.includes('quirks') ? ' --quirks' : '';
  const extras = others.length > 0 ? ` --with ${others.join(',')}` : '';
  return `npm run test:simulation -- --seed ${seed}${quirks}${extras} --trace`;
}

/** So many seeds from `from` on; with quirks, each for a partner that has some, and in a world with extras. */
export function seedsFrom(
  from: number,
  count: number,
  { quirks = false, extras = [] }: { quirks?: boolean; extras?: readonly Extra[] } = {},
): string[] {
  const words = [...(quirks ? ['quirks'] : []), ...extras].join(',');
  return Array.from({ length: count }, (_, nth) => `${from + nth}${words === '' ? '' : `:${words}`}`);
}

export interface Plays {
  /** What to play: a seed, `<seed>:quirks,<extra>...`, or `<seed>:<plant>` (plants.ts). */
  plays: readonly string[];
  processes: number;
  /** More for the environment of each process. */
  env?: Record<string, string>;
  /** The module that plays; a test brings another. */
  player?: string;
  /** Ends all processes when it says true. */
  isEnough?: (line: SeedLine) => boolean;
}

const PLAYER = fileURLToPath(new URL('./seed-process.ts', import.meta.url));
/** No seed takes a second of a machine of its own; one that takes this long does not end. */
const PLAY_MS = 240_000;

/**
 * Plays seeds in processes of their own. A process that dies or hangs is a failed seed, and another goes on after it.
 */
export async function playInProcesses(options: Plays, note: (line: SeedLine) => void): Promise<void> {
  const { plays, processes } = options;
  const running = new Set<ChildProcess>();
  let enough = false;
  const hear = (line: SeedLine): void => {
    if (enough) return;
    note(line);
    enough = options.isEnough?.(line) ?? false;
    if (enough) for (const child of running) child.kill();
  };
  const playShare = async (share: string[]): Promise<void> => {
    let left = share;
    while (left.length > 0 && !enough) {
      const { played, ending } = await playUntilDeath(options, left, running, hear);
      const lost = left[played];
      left = left.slice(played + 1);
      if (lost !== undefined && !enough) hear(lostLine(lost, ending));
    }
  };
  const shares = Array.from({ length: processes }, (_, nth) => plays.filter((_one, at) => at % processes === nth));
  await Promise.all(shares.map(playShare));
}

function lostLine(play: string, ending: string): SeedLine {
  return {
    play,
    seed: Number.parseInt(play, 10),
    ms: 0,
    holds: {},
    hires: 0,
    events: 0,
    compared: 0,
    violations: [ending],
  };
}

/** One process, until it has played everything or dies. */
async function playUntilDeath(
  { player = PLAYER, env = {} }: Plays,
  plays: readonly string[],
  running: Set<ChildProcess>,
  hear: (line: SeedLine) => void,
): Promise<{ played: number; ending: string }> {
  const child = spawn(process.execPath, [player, ...plays], {
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
  }, PLAY_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    watch.refresh();
    played += 1;
    hear(JSON.parse(line) as SeedLine);
  }
  const [code, signal] = await closed;
  clearTimeout(watch);
  running.delete(child);
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
  return {
    played,
    ending: hangs ? `its process did not end it within ${PLAY_MS / 1000} s` : `its process ${how} in its course`,
  };
}
