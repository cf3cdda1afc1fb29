import { expect, test } from 'vitest';
import { playSeed } from './play-seed.ts';
import { playStrangeSeed } from './strange/play.ts';
import { exchanged, exchangedPositions } from './world.ts';

/** A put-back is a write, and what was in doubt is written again; an echo would have no end. */
const MOST_WRITES_AN_EDIT = 1.5;

const KINDS = [
  { what: 'candidates and employees', play: (seed: number) => playSeed(seed, exchanged), seeds: 8 },
  { what: 'jobs and positions', play: (seed: number) => playSeed(seed, exchangedPositions), seeds: 4 },
  { what: 'candidates and employees of systems with habits of their own', play: playStrangeSeed, seeds: 9 },
];

test.each(KINDS)(
  '$what end with the same values, whatever is edited, lost and killed meanwhile',
  async (kind) => {
    const played = [];
    for (let seed = 1; seed <= kind.seeds; seed += 1) played.push(await kind.play(seed));
    expect(played.flatMap(({ seed, violations }) => violations.map((text) => `seed ${seed}: ${text}`))).toEqual([]);
    const edits = played.reduce((sum, one) => sum + one.edits, 0);
    const writes = played.reduce((sum, one) => sum + one.writes, 0);
    expect(writes).toBeLessThan(edits * MOST_WRITES_AN_EDIT);
    expect(played.reduce((sum, one) => sum + one.kills, 0)).toBeGreaterThan(kind.seeds);
  },
  300_000,
);
