import { expect, test } from 'vitest';
import { measureFleet } from '../fleet-at-rest/measure-fleet.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { sumOfRows } from '../stream/count-writes.ts';

const TENANTS = 30;
const SECONDS = 15;

// A thousand tenants, with memory, processor time and seconds: npm run test:fleet-at-rest.
test('tenants at rest write next to nothing to the store, and one of them still hires', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const { many } = await measureFleet({
    temporalAddress,
    tenants: TENANTS,
    streaming: 10,
    // No reconcile falls into the time that is watched.
    every: '24h',
    seconds: SECONDS,
    say: () => undefined,
  });
  // A worker's own signs of life are as many for thirty tenants as for one.
  const { processes: _process, leases: _leases, ...ofTenants } = many.byTable;
  expect(sumOfRows(ofTenants) / TENANTS / (SECONDS / 60), JSON.stringify(many.byTable)).toBeLessThanOrEqual(1);
  expect(many.hireMs).toBeGreaterThan(0);
});
