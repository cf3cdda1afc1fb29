import { expect, test } from 'vitest';
import { runCommand } from '../harness/run-command.ts';

/** Has a process print, as it ends, every package that it loaded. */
const WATCH = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
      if (name !== undefined) packages.add(name);
      return next(url, context);
    },
  });
  process.on('exit', () => process.stderr.write(JSON.stringify([...packages])));
`)}`;

test('--help loads the package that reads the command line, and no other', async () => {
  const { code, stderr } = await runCommand(['--help'], { NODE_OPTIONS: `--import=${WATCH}` });
  expect(code).toBe(0);
  expect(JSON.parse(stderr)).toEqual(['commander']);
});
