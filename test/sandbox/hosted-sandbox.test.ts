import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../architecture/tree.ts';
import { until } from '../harness/until.ts';

const run = promisify(execFile);

test.each([
  ['closed its sandbox', 'await sandbox.close();'],
  ['left it open', ''],
])('a script that %s ends by itself, and the host of the sandboxes with it', async (_what, close) => {
  const script = `
    import { hostSandbox } from './test/sandbox/hosted-sandbox.ts';
    const sandbox = await hostSandbox({ seed: 7, jobs: 1, candidates: 0, hired: 0 });
    ${close}
    console.log(sandbox.url);
  `;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: root });
  const isGone = (): Promise<boolean> =>
    fetch(stdout.trim()).then(
      () => false,
      () => true,
    );
  expect(await until('the host of the sandboxes is gone', isGone)).toBe(true);
});
