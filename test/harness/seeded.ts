import { createRandom, type Random } from '../../src/sandbox/random.ts';

/** Chance for one test: HIREBRIDGE_SEED repeats a run; the seed is printed, so that a failure names what made it. */
export function seeded(test: string): Random {
  const seed = Number(process.env['HIREBRIDGE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${test}: repeat with HIREBRIDGE_SEED=${seed}\n`);
  return createRandom(seed);
}

/** The same things in an order of chance. */
export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const keyed = list.map((item) => ({ item, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}
