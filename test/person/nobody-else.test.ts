import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openGround } from '../erasure/ground.ts';
import { eraseAmong, randomOf, randomPeople } from '../erasure/others.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { freshStore, kinds } from '../store/stores.ts';

// `npm run test:erasure` plays 10,000 people on each database.
test.each(kinds)(
  'an erased person leaves every row of others as it was, whatever their numbers, on %s',
  async (kind) => {
    const { store } = await freshStore(kind);
    const ground = await openGround(store, `sqlite:${join(await scratchFolder(), 'hr.db')}`);
    onTestFinished(ground.close);
    const people = randomPeople(24, randomOf(5));
    const compared = await eraseAmong(ground, people, people.slice(0, 3));
    expect(compared).toMatchObject({ erased: 3, others: 21, faults: [] });
    expect(compared.rows).toBeGreaterThan(900);
  },
);
