import { expect, test } from 'vitest';
import { measureFleet } from '../fleet-at-rest/measure-fleet.ts';
import { temporalForTests } from '../harness/temporal.ts';

// A thousand tenants, with memory, processor time and seconds: npm run test:fleet-at-rest.
test('tenants at rest write next to nothing to the store, and one of them still hires', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const { many } = await measureFleet({
    temporalAddress,
    tenants: 30,
    streaming: 10,
    // No reconcile falls into the time that is watched.
    every: '24h',
    seconds: 15,
    say: () => undefined,
  });
  expect(many.writes, JSON.stringify(many.byTable)).toBeLessThanOrEqual(1);
  expect(many.hireMs).toBeGreaterThan(0);
});
