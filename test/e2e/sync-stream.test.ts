import { expect, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { isGood, measurePasses, measureQuarantine } from '../stream/measure-stream.ts';

// With 100,000 candidates, and every number printed: npm run test:stream.
test('a stream reads each page once, writes only what changed, and goes on after a SIGKILL where it was', async () => {
  const { address } = await temporalForTests();
  const measures = await measurePasses(address, { candidates: 2_000 });
  expect(measures.filter((one) => !isGood(one))).toEqual([]);
});

test('unreadable records are quarantined while their page lands, and heal when the partner does', async () => {
  const { address } = await temporalForTests();
  const measures = await measureQuarantine(address);
  expect(measures.filter((one) => !isGood(one))).toEqual([]);
});
