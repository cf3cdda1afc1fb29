import { describe, expect, test } from 'vitest';
import {
  jobsToList,
  scopeOf,
  startsNow,
  totalsToNote,
  unlikeTotals,
  waitsForCreateStage,
  waitsForOnboarding,
} from '../../../activities/reconcile/run.ts';
import { hireStates } from '../../../src/hire/hire.ts';

const DAY_MS = 86_400_000;

describe('the scope of a reconcile', () => {
  test.each([
    ['a tenant never reconciled: baseline, in full', null, null, { isFirst: true, isFull: true, isRestored: false }],
    ['a day after the last full one: in full', 1, 1, { isFirst: false, isFull: true, isRestored: false }],
    ['within a day of it: what changed', 1, 2, { isFirst: false, isFull: false, isRestored: false }],
    [
      'a store that was restored: in full, and what it lost',
      1,
      null,
      { isFirst: false, isFull: true, isRestored: true },
    ],
  ])('%s', (_what, baseline, reconciledAt, scope) => {
    const tenant = { baseline_done_at: baseline, fully_reconciled_at: reconciledAt };
    expect(scopeOf(tenant, DAY_MS + 1)).toEqual(scope);
  });
});

describe('the people of a job are listed', () => {
  const job = (jobId: string, totals: string, listedTotals: string | null) => ({ jobId, totals, listedTotals });
  const jobs = [job('same', '[1]', '[1]'), job('moved', '[2]', '[1]'), job('new', '[0]', null)];
  const ids = (isFull: boolean, hinted: string[]) => jobsToList(jobs, isFull, new Set(hinted)).map((one) => one.jobId);

  test('where its totals moved or were never listed', () => expect(ids(false, [])).toEqual(['moved', 'new']));
  test('where a hint names it', () => expect(ids(false, ['same'])).toEqual(['same', 'moved', 'new']));
  test('in a full reconcile', () => expect(ids(true, [])).toEqual(['same', 'moved', 'new']));
});

test('somebody in a hiring stage starts a hire only where there is none, or where they had left', () => {
  expect(startsNow(undefined)).toBe(true);
  expect(hireStates.filter((state) => startsNow({ state }))).toEqual(['left']);
});

test('a hire waits for its onboarding while it is enrolled and has no employee', () => {
  const hire = (onboarding_candidate_id: string | null, employee_id: string | null) => ({
    onboarding_candidate_id,
    employee_id,
  });
  expect([hire(null, null), hire('a', null), hire('b', 'e1')].map(waitsForOnboarding)).toEqual([false, true, false]);
});

test('a planning hire waits for its person to reach the stage that creates, with or without an employee', () => {
  const waiting = { state: 'open', step: 'employ', employee_id: null } as const;
  expect(waitsForCreateStage(waiting)).toBe(true);
  // Whose worker died between the link and the write-back.
  const linked = { ...waiting, employee_id: '7' };
  expect(waitsForCreateStage(linked)).toBe(true);
  expect(waitsForCreateStage({ ...waiting, step: 'onboard' })).toBe(false);
  expect(waitsForCreateStage({ ...waiting, state: 'cancelled' })).toBe(false);
  expect(waitsForCreateStage(undefined)).toBe(false);
});

test('a list that differs from its job’s totals is read once more, and then taken as it is', () => {
  const totals = '[["OFFER",1],["HIRED",2],["HIRED",1]]';
  const shown = (offer: number, hired: number) =>
    new Map([
      ['OFFER', offer],
      ['HIRED', hired],
    ]);
  expect(unlikeTotals(totals, shown(1, 3), ['OFFER', 'HIRED', 'SCREEN'])).toBeUndefined();
  expect(unlikeTotals('unreadable', undefined, ['HIRED'])).toBeUndefined();
  const unlike = unlikeTotals(totals, shown(0, 3), ['OFFER', 'HIRED']);
  expect(unlike).toBe('but OFFER 0, HIRED 3');
  const noted = totalsToNote(totals, unlike, totals);
  expect(noted).toBe(`${totals} but OFFER 0, HIRED 3`);
  expect(totalsToNote(totals, unlike, noted)).toBe(totals);
  expect(totalsToNote(totals, undefined, noted)).toBe(totals);
});
