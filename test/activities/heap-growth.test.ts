import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./collect-garbage-process.ts', import.meta.url));

test('a long pass has more room for garbage, which is given back at its end', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-semi-space-size=8', '--expose-gc', SCRIPT]);
  const { atRest, longPass, again } = JSON.parse(stdout) as Record<'atRest' | 'longPass' | 'again', number>;
  // A third more is expected. Of twelve collections each, a tenth is missed by chance less than once in ten thousand.
  expect(longPass).toBeGreaterThan(atRest * 1.1);
  expect(longPass).toBeGreaterThan(again * 1.1);
});
