import { expect, onTestFinished, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { BASE_COMMIT, checkOutBase, versionBefore } from '../upgrade/check-out-base.ts';
import { faultsOf, faultsOfReturn } from '../upgrade/judge-upgrade.ts';
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

// docs/upgrade.md: a version whose changes of the tables only add leaves one version back open.
test('the version before is started again on the tables of now, and makes every hire to its end', async ({ skip }) => {
  const before = await versionBefore();
  const base = before === undefined ? undefined : await checkOutBase(before);
  if (base === undefined)
    return skip('the newest change of the tables does more than add, or is older than this clone');
  onTestFinished(() => base.remove());
  const { address: temporalAddress } = await temporalForTests();
  const upgraded = await upgrade({ temporalAddress, baseMain: base.main, hires: 8 });
  expect([...faultsOf(upgraded, 8), ...faultsOfReturn(upgraded)]).toEqual([]);
});
