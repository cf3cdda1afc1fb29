import { expect, expectTypeOf, test } from 'vitest';
import { ownHris } from '../../activities/own-hris.ts';
import { type Change, type Employee, employeeIn } from '../../src/hire/hire.ts';
import type { EmployeeFiles, Employees, HrisConnection } from '../../src/hris/port.ts';
import type { Employment } from '../../src/store/employments.ts';
import type { employeeOf } from '../../src/store/hires.ts';
import type { LinkedPair } from '../../src/store/linked-pairs.ts';

const write = { signal: AbortSignal.timeout(120_000), beforeSend: () => undefined };

/** An HR system of a test that says what it was asked. */
function asked() {
  const calls: string[] = [];
  const note = (what: string) => async (id: string) => void calls.push(`${what} ${id}`);
  const employees: Partial<Employees> = {
    update: note('update'),
    amend: note('amend'),
    rehire: note('rehire'),
    terminate: note('terminate'),
    read: async (id) => {
      calls.push(`read ${id}`);
      return { ref: { id, number: 'N7' }, fields: {} };
    },
    find: async () => ({ kind: 'one', ref: { id: '7' }, by: 'number' }),
    create: async () => ({ kind: 'created', ref: { id: '7' } }),
  };
  const files: EmployeeFiles = {
    deliver: async (id) => {
      calls.push(`deliver ${id}`);
      return 'delivered';
    },
    holds: async (id) => {
      calls.push(`holds ${id}`);
      return true;
    },
  };
  return { calls, hris: ownHris('acme-hr', { employees, files } as unknown as HrisConnection) };
}

test('an id, or anything that looks like an employee, is none', () => {
  expectTypeOf<string>().not.toExtend<Employee>();
  expectTypeOf<{ connection: string; id: string }>().not.toExtend<Employee>();
  expectTypeOf(employeeIn('acme-hr', '7')).toEqualTypeOf<Employee>();
});

test('hires, pairs, employments and plans say which HR system their employee is in', () => {
  expectTypeOf<NonNullable<ReturnType<typeof employeeOf>>>().toExtend<Employee>();
  expectTypeOf<NonNullable<LinkedPair['employee']>>().toExtend<Employee>();
  expectTypeOf<Employment['employee']>().toExtend<Employee>();
  expectTypeOf<Exclude<Change, { kind: 'create' }>['employee']>().toExtend<Employee>();
});

test('an open HR system does what it is asked with its own employees', async () => {
  const { calls, hris } = asked();
  const own = employeeIn('acme-hr', '7');
  await hris.employees.update(own, {}, write);
  await hris.employees.terminate?.(own, '2026-01-01', write);
  expect(await hris.employees.read(own, write.signal)).toMatchObject({ ref: { connection: 'acme-hr', number: 'N7' } });
  expect(calls).toEqual(['update 7', 'terminate 7', 'read 7']);
});

test('those it finds and makes are its own', async () => {
  const { hris } = asked();
  const ref = { connection: 'acme-hr', id: '7' };
  expect(await hris.employees.find({ by: 'number', value: 'N7' }, write.signal)).toMatchObject({ ref });
  expect(await hris.employees.create({}, 'r', write)).toMatchObject({ ref });
});

test('an employee of another HR system is refused before anything is asked', async () => {
  const { calls, hris } = asked();
  const { employees, files } = hris;
  const other = employeeIn('former-hr', '7');
  const file = { name: 'a.pdf', document: 'resume', mediaType: 'application/pdf', bytes: Buffer.from('') };
  const tries = [
    () => employees.read(other, write.signal),
    () => employees.update(other, {}, write),
    () => employees.amend?.(other, { fields: {}, over: {}, from: '2026-01-01' }, write),
    () => employees.rehire?.(other, {}, write),
    () => employees.terminate?.(other, '2026-01-01', write),
    () => files?.deliver(other, file, write),
    () => files?.holds?.(other, file, write.signal),
  ];
  for (const attempt of tries)
    await expect(attempt()).rejects.toMatchObject({ code: 'EMPLOYEE_ELSEWHERE', action: 'reject' });
  expect(calls).toEqual([]);
});
