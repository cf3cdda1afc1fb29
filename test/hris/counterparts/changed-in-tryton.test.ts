import { onTestFinished, test } from 'vitest';
import { startTryton } from '../../../src/counterparts/start-tryton.ts';
import { expectAllToArrive, LONG_MS } from '../expect-all-to-arrive.ts';
import { trytonStaff } from '../staffs.ts';

test(
  'of 500 employees who change with one stamp in Tryton, all arrive once',
  async () => {
    const server = await startTryton();
    onTestFinished(() => server.stop());
    await expectAllToArrive(await trytonStaff(server));
  },
  LONG_MS,
);
