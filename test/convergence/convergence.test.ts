import { expect, test } from 'vitest';
import { playSeed } from './play-seed.ts';

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed + 1);
/** A put-back is a write, and what was in doubt is written again; an echo would have no end. */
const MOST_WRITES_AN_EDIT = 1.5;

test('both sides end with the same values, whatever is edited, lost and killed meanwhile; nothing echoes', async () => {
  const played = [];
  for (const seed of SEEDS) played.push(await playSeed(seed));
  expect(played.flatMap(({ seed, violations }) => violations.map((text) => `seed ${seed}: ${text}`))).toEqual([]);
  const edits = played.reduce((sum, one) => sum + one.edits, 0);
  const writes = played.reduce((sum, one) => sum + one.writes, 0);
  expect(writes).toBeLessThan(edits * MOST_WRITES_AN_EDIT);
  expect(played.reduce((sum, one) => sum + one.kills, 0)).toBeGreaterThan(SEEDS.length);
}, 300_000);
