import { expect } from 'vitest';
import { bringChanges } from './changed-employees.ts';
import type { Staff } from './staff.ts';

const PEOPLE = 500;
/** Each employee is read apart in every pass, and Tryton answers one after the other. */
export const LONG_MS = 900_000;

/** Of 500 employees who change with one stamp, all arrive once. */
export async function expectAllToArrive(staff: Staff): Promise<void> {
  const { deaths, ...arrived } = await bringChanges(staff, PEOPLE);
  console.log(`${staff.kind}: ${PEOPLE} changed, ${deaths} deaths`);
  expect(arrived).toEqual({ lost: [], twice: [] });
  expect(deaths).toBeGreaterThan(20);
}
