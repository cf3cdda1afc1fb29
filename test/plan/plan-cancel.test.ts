import { expect, test } from 'vitest';
import { liveEnrolment, mayBeTerminatedByUs, planCancel } from '../../src/plan/plan-cancel.ts';

const hire = { jobCandidateId: '5012', state: 'open', employeeId: null, answers: [] } as const;
const byPerson = [{ answer: 'cancel' }];

test.each([
  ['its person left', hire, { ends: 'left', mayBeBack: true }],
  ['its person left, and it is over already', { ...hire, state: 'left' as const }, { ends: 'left', mayBeBack: false }],
  ['somebody said so', { ...hire, answers: byPerson }, { ends: 'cancelled', mayBeBack: false }],
  [
    'cancel, tried again',
    { ...hire, answers: [...byPerson, { answer: 'retry' }] },
    { ends: 'cancelled', mayBeBack: false },
  ],
  [
    'another answer came since',
    { ...hire, answers: [...byPerson, { answer: 'link' }] },
    { ends: 'left', mayBeBack: true },
  ],
])('%s', (_what, given, expected) => {
  expect(planCancel(given)).toEqual(expected);
});

test('a hire with an employee is never cancelled, whoever asks', () => {
  const refused = expect.objectContaining({ code: 'EMPLOYEE_EXISTS', action: 'reject' });
  expect(() => planCancel({ ...hire, employeeId: '7', answers: byPerson })).toThrow(refused);
});

test('somebody who left before the employee’s late answer came is a question with answers that end it', () => {
  const asked = { code: 'LEFT_AFTER_EMPLOYEE', answers: ['keep', 'left', 'retry'] };
  expect(planCancel({ ...hire, employeeId: '7' })).toMatchObject({ verdict: 'hold', hold: asked });
});

const sent = { outcome: 'open', give_up_at: 5_000, now: 4_000 } as const;

test.each([
  ['the one that we know of', 'oc-7', sent, { kind: 'known', onboardingCandidateId: 'oc-7' }],
  ['none was ever sent', null, undefined, { kind: 'none' }],
  ['one is under way', null, sent, { kind: 'wait', waitMs: 1_000 }],
  ['its deadline has passed', null, { ...sent, now: 5_000 }, { kind: 'look' }],
  ['it was decided before its deadline', null, { ...sent, outcome: 'absent' as const }, { kind: 'look' }],
])('the enrolment to end: %s', (_what, id, enrolling, expected) => {
  expect(liveEnrolment(id, enrolling)).toEqual(expected);
});

test('an end whose answer was lost may be ours; one that was refused is not', () => {
  const ours = (['open', 'done', 'absent', 'refused'] as const).map((outcome) => mayBeTerminatedByUs({ outcome }));
  expect([...ours, mayBeTerminatedByUs(undefined)]).toEqual([true, true, false, false, false]);
});

test.each(['before-go-live', 'done', 'cancelled', 'kept'] as const)(
  'nobody comes back into a hire that is %s',
  (state) => {
    expect(planCancel({ ...hire, state })).toEqual({ ends: 'left', mayBeBack: false });
  },
);

test('the refusal to cancel names hire and employee, and says what to do', () => {
  expect(() => planCancel({ ...hire, employeeId: '7', answers: byPerson })).toThrow(
    /Job candidate 5012 .* employee 7 .* HR system/,
  );
});

test.each([
  [
    'the one that we know of, whatever became of a later request',
    'oc-7',
    { ...sent, outcome: 'refused' as const },
    'known',
  ],
  ['the last moment of a request', null, { ...sent, now: 4_999 }, 'wait'],
  ['a deadline long past', null, { ...sent, now: 60_000 }, 'look'],
  ['a request that was answered, its id lost', null, { ...sent, outcome: 'done' as const }, 'look'],
  [
    'a request that was refused: one of before may carry our reference',
    null,
    { ...sent, outcome: 'refused' as const },
    'look',
  ],
])('the enrolment to end: %s', (_what, id, enrolling, kind) => {
  expect(liveEnrolment(id, enrolling)).toMatchObject({ kind });
});
