import { expect, test } from 'vitest';
import { playSeed } from './play-seed.ts';
import { exchanged, exchangedPositions } from './world.ts';

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed + 1);
/** A put-back is a write, and what was in doubt is written again; an echo would have no end. */
const MOST_WRITES_AN_EDIT = 1.5;

const KINDS = [
  { what: 'candidates and employees', carried: exchanged, seeds: SEEDS },
  { what: 'jobs and positions', carried: exchangedPositions, seeds: SEEDS.slice(0, 6) },
];

test.each(KINDS)(
  '$what end with the same values, whatever is edited, lost and killed meanwhile',
  async (kind) => {
    const played = [];
    for (const seed of kind.seeds) played.push(await playSeed(seed, kind.carried));
    expect(played.flatMap(({ seed, violations }) => violations.map((text) => `seed ${seed}: ${text}`))).toEqual([]);
    const edits = played.reduce((sum, one) => sum + one.edits, 0);
    const writes = played.reduce((sum, one) => sum + one.writes, 0);
    expect(writes).toBeLessThan(edits * MOST_WRITES_AN_EDIT);
    expect(played.reduce((sum, one) => sum + one.kills, 0)).toBeGreaterThan(kind.seeds.length);
  },
  300_000,
);
