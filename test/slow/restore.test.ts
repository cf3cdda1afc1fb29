import { expect, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { playRestore } from '../restore/restore.ts';

/** Every age, store and kind: npm run test:restore. */
test('a store that is put back makes nobody twice, and asks about whom HR deleted since', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const { faults } = await playRestore({ temporalAddress, store: 'sqlite', kind: 'sql', age: 'made' });
  expect(faults).toEqual([]);
});
