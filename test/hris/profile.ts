import { vi } from 'vitest';
import type { EmployeeFields } from '../../src/hire/hire.ts';
import type { HrisProfile, Powers } from '../../src/hris-kit/hris-under-test.ts';

export { created, type HrisProfile, refusal, signal, write } from '../../src/hris-kit/hris-under-test.ts';

/** A complete employee; the e-mail and name are the tag's own, so that tests share a table without meeting. */
export function employee(tag: string, changes: EmployeeFields = {}): EmployeeFields {
  return {
    givenName: 'Ana',
    familyName: `Reyes ${tag}`,
    email: `${tag}@example.org`,
    title: 'Cook',
    startDate: '2026-02-01',
    birthDate: '1990-05-17',
    ...changes,
  };
}

/** An employees table as we would make it. */
export const sqlProfile: HrisProfile = {
  employee,
  nameField: 'familyName',
  edit: { title: 'Chef' },
  missing: { startDate: null },
  number: /^0\d{5}$/,
  refuses: [],
  foldsEveryLetter: false,
  findsPersons: true,
};

/** This process's clock goes wrong, and the counterpart's does not. */
export const ownClock: Powers['ownClock'] = (minutes) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
  return () => void vi.useRealTimers();
};
