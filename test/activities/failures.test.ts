import { expect, test } from 'vitest';
import { retryDelay, toFailure } from '../../activities/create-activities.ts';
import { ConnectorError } from '../../src/errors.ts';

const policy = { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 60_000 };

test.each([
  [1, 1_000],
  [2, 2_000],
  [5, 16_000],
  [20, 60_000],
])('the delay after %i failures follows the policy, however many waits came between: %i ms', (failures, ms) => {
  expect(retryDelay(policy, failures)).toBe(ms);
});

test('an error that says when to come back is believed; one that does not gets the usual delay', () => {
  const wait = new ConnectorError({
    code: 'RATE_LIMIT_WAIT',
    action: 'throttle',
    message: 'wait',
    retryAfterMs: 7_000,
  });
  expect(toFailure(wait, 1_000).nextRetryDelay).toBe(7_000);
  expect(toFailure(new Error('broken'), 1_000).nextRetryDelay).toBe(1_000);
  expect(toFailure(new Error('broken')).nextRetryDelay).toBeUndefined();
});
