import { describe, expect, onTestFinished, test } from 'vitest';
import { startTryton } from '../../../src/counterparts/start-tryton.ts';
import { bringChanges } from '../changed-employees.ts';
import { startedSftpHris } from '../sftp-under-test.ts';
import type { Staff } from '../staff.ts';
import { bamboohrStaff, sftpStaff, sqlStaff, trytonStaff } from '../staffs.ts';

const PEOPLE = 500;
const LONG_MS = 900_000;

async function expectAllToArrive(staff: Staff): Promise<void> {
  const { deaths, ...arrived } = await bringChanges(staff, PEOPLE);
  console.log(`${staff.kind}: ${PEOPLE} changed, ${deaths} deaths`);
  expect(arrived).toEqual({ lost: [], twice: [] });
  expect(deaths).toBeGreaterThan(20);
}

describe(`of ${PEOPLE} employees who change with one stamp, all arrive once`, { timeout: LONG_MS }, () => {
  test('sql', async () => expectAllToArrive(await sqlStaff()));
  test('bamboohr', async () => expectAllToArrive(await bamboohrStaff()));
  test('tryton', async () => {
    const server = await startTryton();
    onTestFinished(() => server.stop());
    await expectAllToArrive(await trytonStaff(server));
  });
});

describe('and by files', { timeout: LONG_MS }, () => {
  const at = startedSftpHris();
  test('sftp', async () => expectAllToArrive(await sftpStaff(at())));
});
