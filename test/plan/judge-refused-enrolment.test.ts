import { expect, test } from 'vitest';
import { judgeRefusedEnrolment } from '../../src/plan/plan-enrolment.ts';

const CODE = 'INSUFFICIENT_ONBOARDING_CREDITS';

test.each([
  ['its code', { code: CODE, status: 402, details: { requiredCredits: 1, availableCredits: 0 } }, 1, 0],
  ['its code without details', { code: CODE, status: 402, details: undefined }, null, null],
  ['the status of an unreadable body', { code: 'PAYMENT_REQUIRED', status: 402, details: undefined }, null, null],
  ['its code under another status', { code: CODE, status: 400, details: undefined }, null, null],
])('missing credits are known by %s', (_, refusal, required, available) => {
  expect(judgeRefusedEnrolment(refusal)).toEqual({ kind: 'no-credits', required, available });
});

test('an enrolment that is there already is looked up, and any other refusal goes to a person', () => {
  const refusal = { status: 409, details: undefined };
  expect(judgeRefusedEnrolment({ code: 'DUPLICATE_ENROLLMENT', ...refusal })).toEqual({ kind: 'duplicate' });
  expect(judgeRefusedEnrolment({ code: 'FLOW_INACTIVE', ...refusal })).toEqual({ kind: 'other' });
});
