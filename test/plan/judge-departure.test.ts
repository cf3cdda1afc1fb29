import { expect, test } from 'vitest';
import { type Departure, judgeDeparture } from '../../src/plan/plan-cancel.ts';

const gone: Departure = {
  jobCandidateId: '5012',
  employeeId: '7',
  startDate: '2026-03-02',
  former: false,
  takenOver: false,
  today: '2026-03-01',
  noShowDays: 3,
  asked: false,
};
const ANSWERS = ['no-show', 'moved', 'keep', 'retry'];
const OVER = { verdict: 'over' };
const asks = (code: string, answers: string[]) => ({ verdict: 'hold', hold: { code, answers } });

test.each<[string, Partial<Departure>, object]>([
  ['before the first day a person is asked', {}, asks('LEFT_BEFORE_START', ANSWERS)],
  ['and on the first day', { today: '2026-03-02' }, asks('LEFT_BEFORE_START', ANSWERS)],
  ['and for some days after it', { today: '2026-03-05' }, asks('LEFT_BEFORE_START', ANSWERS)],
  ['later nothing is asked', { today: '2026-03-06' }, OVER],
  ['what was asked in time stays a question', { today: '2026-03-09', asked: true }, asks('LEFT_BEFORE_START', ANSWERS)],
  ['and ends with the employment', { today: '2026-03-09', asked: true, former: true }, OVER],
  ['nor where nobody is waited for after the first day', { today: '2026-03-03', noShowDays: 0 }, OVER],
  ['an employment that has ended is no question', { former: true }, OVER],
  ['an employee whom another hire has is no question', { takenOver: true }, OVER],
  ['no first day', { startDate: undefined }, asks('LEFT_AFTER_EMPLOYEE', ['keep', 'left', 'retry'])],
  ['an empty first day', { startDate: null }, asks('LEFT_AFTER_EMPLOYEE', ['keep', 'left', 'retry'])],
])('%s', (_, facts, expected) => {
  expect(judgeDeparture({ ...gone, ...facts })).toMatchObject(expected);
});
