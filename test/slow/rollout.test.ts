import { expect, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { faultsOf, rollOut } from '../rollout/roll-out.ts';

// 200 hires, on Temporal's own server and Postgres: npm run test:rollout.
test('work sent to a new version of the workers and back makes each hire exactly once', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const rolledOut = await rollOut({ temporalAddress, hires: 12 });
  expect(faultsOf(rolledOut, 12)).toEqual([]);
});
