import { expect, test } from 'vitest';
import { overallStatuses } from '../../src/partner/contract/onboarding.ts';
import { judgeOnboarding } from '../../src/plan/plan-enrolment.ts';

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

// The status set of the contract is open: an unknown word must never be read from an object's own prototype.
test.each(['constructor', 'toString', '__proto__', '', 'COMPLETED', ' completed'])('%j is no status', (status) => {
  expect(judgeOnboarding('5012', status, policy)).toEqual({ verdict: 'unknown' });
});

test.each<[string, string, readonly string[], unknown]>([
  ['handed over, where only the end counts', 'final_handoff', ['completed'], 'waiting'],
  ['at the end, where only the handing over counts', 'completed', ['final_handoff'], 'waiting'],
  ['submitted in part, where that is enough', 'partial_submission', ['partial_submission'], 'ready'],
  ['begun, where nothing else is waited for', 'not_started', ['not_started'], 'ready'],
  ['unknown to us, and named by the tenant', 'awaiting_signature', ['awaiting_signature'], 'ready'],
  ['part of a name', 'complete', ['completed'], 'unknown'],
])('an onboarding %s', (_what, status, readyAt, expected) => {
  expect(judgeOnboarding('5012', status, { readyAt })).toEqual({ verdict: expected });
});

test.each(['skip', 'awaiting_signature', 'failed'])(
  'a tenant that skips onboarding waits for nothing: %s',
  (status) => {
    expect(judgeOnboarding('5012', status, 'skip')).toEqual({ verdict: 'ready' });
  },
);

test.each(['rejected', 'failed', 'terminated'])('%s is asked about with status and job candidate', (status) => {
  const judged = judgeOnboarding('5012', status, policy);
  expect(judged).toMatchObject({
    verdict: 'hold',
    hold: {
      message: expect.stringContaining(`The onboarding of job candidate 5012 is ${status}.`),
      answers: ['retry', 're-enrol', 'create-anyway', 'cancel'],
      details: { jobCandidateId: '5012', status },
    },
  });
});

test('a tenant may take a rejected onboarding for ready', () => {
  expect(judgeOnboarding('5012', 'rejected', { readyAt: ['rejected'] })).toEqual({ verdict: 'ready' });
  expect(judgeOnboarding('5012', 'rejected', 'skip')).toEqual({ verdict: 'ready' });
});
