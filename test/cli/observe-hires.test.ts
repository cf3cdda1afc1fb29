import { expect, test } from 'vitest';
import { observeHires } from '../../src/cli/demo/recruiting.ts';
import { countReport, isAsPlayed } from '../../src/cli/demo.ts';
import type { LedgerEntry, LedgerRow } from '../../src/sandbox/records/ledger.ts';

const EMPLOYEE = { id: '1', number: '000123', reference: '7001:42' };
const PEOPLE = new Map([['600001', '42']]);
const SECONDS = { temporalCli: 0, ready: 1, hires: 2 };

function ledger(...entries: LedgerEntry[]): LedgerRow[] {
  return entries.map((entry, index) => ({
    ...entry,
    detail: entry.detail ?? {},
    seq: index + 1,
    at: 1_000 * (index + 1),
  }));
}

const moved: LedgerEntry = { kind: 'effect', name: 'stage-move', subject: '600001', detail: { type: 'HIRED' } };
const enrolled: LedgerEntry = {
  kind: 'effect',
  name: 'enrolment',
  subject: 'onb-1',
  detail: { externalRef: 'hirebridge:600001:1' },
};
const credit: LedgerEntry = { kind: 'effect', name: 'onboarding-credit', subject: 'onb-1' };
const done: LedgerEntry = {
  kind: 'effect',
  name: 'onboarding-status',
  subject: 'onb-1',
  detail: { to: 'final_handoff' },
};
const written: LedgerEntry = {
  kind: 'effect',
  name: 'external-status',
  subject: 'onb-1',
  detail: { employeeId: '000123' },
};
const readBack: LedgerEntry = { kind: 'request', name: 'onboarding.getCandidate', subject: 'onb-1', status: 200 };

test('a hire is verified when one employee has the number that stands with the partner and was read back', () => {
  const rows = ledger(moved, enrolled, credit, done, written, readBack);
  const [view] = observeHires(rows, [EMPLOYEE], PEOPLE, '7001');
  expect(view).toMatchObject({
    jobCandidateId: '600001',
    enrolmentIds: ['onb-1'],
    onboardingDone: true,
    writtenBack: '000123',
    verified: true,
  });
});

test.each([
  ['it was not read back after it was written', ledger(moved, enrolled, readBack, written), [EMPLOYEE]],
  [
    'another number stands there',
    ledger(moved, enrolled, { ...written, detail: { employeeId: '000999' } }, readBack),
    [EMPLOYEE],
  ],
  [
    'there are two employees',
    ledger(moved, enrolled, written, readBack),
    [EMPLOYEE, { ...EMPLOYEE, id: '2', number: '000124' }],
  ],
  ['there is no employee', ledger(moved, enrolled, written, readBack), []],
  [
    "the employee is another person's",
    ledger(moved, enrolled, written, readBack),
    [{ ...EMPLOYEE, reference: '7001:43' }],
  ],
])('a hire is not verified when %s', (_why, rows, employees) => {
  expect(observeHires(rows, employees, PEOPLE, '7001')[0]?.verified).toBe(false);
});

test('people hired long ago and other moves are no hires', () => {
  const rows = ledger(
    { ...moved, detail: { type: 'SCREEN' } },
    { kind: 'effect', name: 'job-candidate', subject: '600002' },
  );
  expect(observeHires(rows, [], PEOPLE, '7001')).toEqual([]);
});

test('a person moved out and in again is one hire, counted from the first time', () => {
  const rows = ledger(moved, { ...moved, detail: { type: 'SCREEN' } }, moved);
  expect(observeHires(rows, [], PEOPLE, '7001')).toMatchObject([{ jobCandidateId: '600001', hiredAt: 1_000 }]);
});

test('the report is as played only when every count is the number of hires', () => {
  const rows = ledger(moved, enrolled, credit, done, written, readBack);
  const views = observeHires(rows, [EMPLOYEE], PEOPLE, '7001');
  const report = countReport(rows, [EMPLOYEE], views, SECONDS);
  expect(report).toEqual({
    hires: 1,
    enrolments: 1,
    creditsSpent: 1,
    employees: 1,
    distinctEmployeeNumbers: 1,
    writeBacksVerified: 1,
    seconds: SECONDS,
  });
  expect(isAsPlayed(report, 1)).toBe(true);
  expect(isAsPlayed({ ...report, creditsSpent: 2 }, 1)).toBe(false);
  expect(isAsPlayed(countReport(rows, [EMPLOYEE, { ...EMPLOYEE, id: '2' }], views, SECONDS), 1)).toBe(false);
});
