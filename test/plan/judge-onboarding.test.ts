import { expect, test } from 'vitest';
import { overallStatuses } from '../../src/partner/contract/onboarding-candidate.ts';
import { judgeOnboarding } from '../../src/plan/judge-onboarding.ts';

const policy = { readyAt: ['final_handoff', 'completed'] };

test.each([
  ['not_started', 'waiting'],
  ['under_review', 'waiting'],
  ['final_handoff', 'ready'],
  ['completed', 'ready'],
  ['rejected', 'ONBOARDING_REJECTED'],
  ['failed', 'ONBOARDING_FAILED'],
  ['terminated', 'ONBOARDING_TERMINATED'],
  ['awaiting_signature', 'unknown'],
])('%s is %s', (status, expected) => {
  const judged = judgeOnboarding('5012', status, policy);
  expect(judged.verdict === 'hold' ? judged.hold.code : judged.verdict).toBe(expected);
});

test('every status of the contract is known', () => {
  const unknown = overallStatuses.filter(
    (status) => judgeOnboarding('5012', status, { readyAt: [] }).verdict === 'unknown',
  );
  expect(unknown).toEqual([]);
});

test('a tenant may take a rejected onboarding for ready', () => {
  expect(judgeOnboarding('5012', 'rejected', { readyAt: ['rejected'] })).toEqual({ verdict: 'ready' });
  expect(judgeOnboarding('5012', 'rejected', 'skip')).toEqual({ verdict: 'ready' });
});
