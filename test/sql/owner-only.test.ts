import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

test('a store on this machine, its companions and its folder may be read by its owner alone', async () => {
  const folder = join(await scratchFolder(), 'data');
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`);
  try {
    const modes = ['', 'store.db', 'store.db-wal', 'store.db-shm'].map(
      (name) => statSync(join(folder, name)).mode & 0o777,
    );
    expect(modes.map((mode) => mode.toString(8))).toEqual(['700', '600', '600', '600']);
  } finally {
    await store.close();
  }
});
