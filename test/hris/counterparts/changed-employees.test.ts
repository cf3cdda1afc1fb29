import { describe, test } from 'vitest';
import { expectAllToArrive, LONG_MS } from '../expect-all-to-arrive.ts';
import { startedSftpHris } from '../sftp-under-test.ts';
import { bamboohrStaff, sftpStaff, sqlStaff } from '../staffs.ts';

describe('of 500 employees who change with one stamp, all arrive once', { timeout: LONG_MS }, () => {
  test('sql', async () => expectAllToArrive(await sqlStaff()));
  test('bamboohr', async () => expectAllToArrive(await bamboohrStaff()));
});

describe('and by files', { timeout: LONG_MS }, () => {
  const at = startedSftpHris();
  test('sftp', async () => expectAllToArrive(await sftpStaff(at())));
});
