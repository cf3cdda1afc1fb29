import { expect, onTestFinished, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { BASE_COMMIT, checkOutBase } from '../upgrade/check-out-base.ts';
import { faultsOf } from '../upgrade/judge-upgrade.ts';
import { upgrade } from '../upgrade/upgrade.ts';

// 200 hires, on Postgres too: npm run test:upgrade.
test('two versions side by side, a worker of each killed, make each hire exactly once', async ({ skip }) => {
  const base = await checkOutBase(BASE_COMMIT);
  if (base === undefined) return skip(`commit ${BASE_COMMIT} is not in this clone`);
  onTestFinished(() => base.remove());
  const { address: temporalAddress } = await temporalForTests();
  const upgraded = await upgrade({ temporalAddress, baseMain: base.main, hires: 12 });
  expect(faultsOf(upgraded, 12)).toEqual([]);
});
