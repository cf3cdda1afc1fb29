import { expect, test } from 'vitest';
import { killEverywhere } from '../activities/accounts/account-world.ts';

test('on Postgres a hire gets one account, wherever the process is killed', async () => {
  expect(await killEverywhere('postgres')).toBeGreaterThan(10);
});
