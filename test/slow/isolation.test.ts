import { expect, test } from 'vitest';
import { fromHarness } from '../harness/services.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { measureCase, percentile } from '../isolation/measure-case.ts';
import { troubles } from '../isolation/troubles.ts';

// Every case, each with its numbers: npm run test:isolation.
const postgres = async () => (await fromHarness('postgres')).url;

test('beside a neighbour told to wait an hour, a tenant hires as it does alone, and the worker ends', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const options = { temporalAddress, postgres, hires: 4, everyMs: 1_000, scale: 0.1, patienceMs: 30_000 };
  const { alone, beside, close } = await measureCase(troubles['throttled']!, options);
  expect(beside).toHaveLength(4);
  // The median: with so few hires the slowest says more about the machine.
  expect(percentile(beside, 0.5)).toBeLessThanOrEqual(2 * percentile(alone, 0.5));
  expect(close).toBeLessThanOrEqual(10_000);
});
