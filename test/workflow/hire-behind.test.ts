import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { expect, test, vi } from 'vitest';
import { input, policy, runHire } from './run-hire.ts';

vi.mock('@temporalio/workflow', () => import('../simulation/workflow-double.ts'));

/** An activity that failed for good. */
function failing(type: string): () => never {
  return () => {
    const cause = ApplicationFailure.create({ type, nonRetryable: true });
    throw new ActivityFailure('failed', 'readOnboarding', '1', 'NON_RETRYABLE_FAILURE', undefined, cause);
  };
}

test('a hire whose row is gone from the store begins anew, with nothing carried over but the period', async () => {
  const carried = { step: 'onboard' as const, period: 2, policy };
  const run = await runHire({ ...input, carried }, { readOnboarding: failing('HIRE_BEHIND') }, { timers: true });
  expect(run.called).toEqual(['readOnboarding']);
  expect(run.continued).toEqual([{ ...input, watch: true, behind: 2 }]);
});

test('another failure is not taken for it', async () => {
  const carried = { step: 'onboard' as const, period: 2, policy };
  const run = await runHire({ ...input, carried }, { readOnboarding: failing('SOMETHING') });
  expect(run.result).toBeInstanceOf(ActivityFailure);
});
