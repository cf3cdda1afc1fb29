import { expect, test } from 'vitest';
import { type KnownHire, planOpening } from '../../src/plan/plan-opening.ts';

const quiet = { adopt: false, watch: false };
const open = { period: 2, state: 'open', employeeId: null } as const;
const answered = { holdId: 'h1', code: 'ONBOARDING_DEADLINE', isClosed: false };
const hold = { holdId: 'h1', code: 'ONBOARDING_DEADLINE' };
const cancel = [{ answer: 'cancel' }];

test.each<[string, Partial<KnownHire>, Partial<typeof quiet>, unknown]>([
  ['nobody known: the first period', {}, {}, { kind: 'look', period: 1 }],
  ['who left may come back', { latest: { ...open, state: 'left' } }, {}, { kind: 'look', period: 3 }],
  ['hired before go-live', { latest: { ...open, state: 'before-go-live' } }, {}, { kind: 'closed' }],
  ['cancelled', { latest: { ...open, state: 'cancelled' } }, {}, { kind: 'closed' }],
  ['kept, and a person asks', { latest: { ...open, state: 'kept' } }, { adopt: true }, { kind: 'reopen' }],
  ['open', { latest: open }, {}, { kind: 'resume', step: 'enrol' }],
  ['with an employee', { latest: { ...open, employeeId: '7' } }, {}, { kind: 'resume', step: 'write-back' }],
  ['answered, not heard', { latest: open, lastAnswered: answered }, {}, { kind: 'resume', step: 'enrol', hold }],
  ['cancel was heard', { latest: open, answers: cancel }, {}, { kind: 'resume', step: 'cancel' }],
  [
    'cancel after the employee is there',
    { latest: { ...open, employeeId: '7' }, answers: cancel },
    {},
    { kind: 'resume', step: 'write-back' },
  ],
  ['done', { latest: { ...open, state: 'done' } }, {}, { kind: 'closed' }],
  [
    'done, to be watched',
    { latest: { ...open, state: 'done' } },
    { watch: true },
    { kind: 'resume', step: 'watch-done' },
  ],
])('%s', (_what, known, asked, expected) => {
  const nothing: KnownHire = { latest: undefined, lastAnswered: undefined, answers: [] };
  expect(planOpening({ ...nothing, ...known }, { ...quiet, ...asked })).toEqual(expected);
});
