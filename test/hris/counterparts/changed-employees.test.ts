import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bringChanges, type Staff } from '../changed-employees.ts';
import { startedSftpHris } from '../sftp-under-test.ts';
import { bamboohrStaff, sftpStaff, sqlStaff, trytonStaff } from '../staffs.ts';
import { startTryton, type TrytonServer } from './start-tryton.ts';

const PEOPLE = 500;

async function expectAllToArrive(staff: Staff): Promise<void> {
  const { deaths, ...arrived } = await bringChanges(staff, PEOPLE);
  console.log(`${staff.kind}: ${PEOPLE} changed, ${deaths} deaths`);
  expect(arrived).toEqual({ lost: [], twice: [] });
  expect(deaths).toBeGreaterThan(20);
}

describe(`of ${PEOPLE} employees who change with one stamp, all arrive once`, () => {
  let tryton: TrytonServer;
  beforeAll(async () => {
    tryton = await startTryton();
  });
  afterAll(() => tryton?.stop());
  const sftp = startedSftpHris();

  test('sql', async () => expectAllToArrive(await sqlStaff()));
  test('bamboohr', async () => expectAllToArrive(await bamboohrStaff()));
  test('tryton', async () => expectAllToArrive(await trytonStaff(tryton)));
  test('sftp', async () => expectAllToArrive(await sftpStaff(sftp())));
}, 900_000);
