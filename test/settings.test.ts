import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { addKey, newKey, openKeys } from '../src/vault/keys.ts';
import { scratchDir } from './cli/cli-process.ts';
import { runCommand } from './harness/run-command.ts';

test.each(['', ' ', '0x1F', '1e3', '8787.5', 'tcp://10.0.0.1:80'])('a port of "%s" is refused', (text) => {
  expect(() => readConfig({ HIREBRIDGE_PORT: text })).toThrow(/HIREBRIDGE_PORT: expected a whole number/);
});

test('a number may end with a line break, as one that was read from a file', () => {
  expect(readConfig({ HIREBRIDGE_PORT: '8787\n' }).HIREBRIDGE_PORT).toBe(8787);
  expect(readConfig({}).HIREBRIDGE_PORT).toBe(8787);
});

test('a token in place of a reference to it is refused without its text', () => {
  const token = 'a-token-that-nobody-may-see';
  const read = () => readConfig({ HIREBRIDGE_CONSOLE_TOKEN: token });
  expect(read).toThrow(/HIREBRIDGE_CONSOLE_TOKEN: expected env:NAME or file:PATH/);
  expect(read).not.toThrow(token);
});

test('doctor names a variable that is misspelt, because hirebridge ignores it', async () => {
  const data = await scratchDir();
  const { code, stdout } = await runCommand(['doctor', '--data', data, '--tenants', data], {
    HIREBRIDGE_KEY: 'file:/etc/secret-place',
  });
  expect(code).toBe(2);
  expect(stdout).toMatch(/wrong +settings +HIREBRIDGE_KEY is ignored[^\n]*Did you mean "HIREBRIDGE_KEYS"\?/);
  expect(stdout).not.toContain('secret-place');
});

test('keys new in a folder that is not there says what to do', async () => {
  const file = join(await scratchDir(), 'none', 'keys');
  const { stderr } = await runCommand(['keys', 'new'], { HIREBRIDGE_KEYS: `file:${file}` });
  expect(stderr).toContain(file);
  expect(stderr).not.toContain('unexpected');
});

test('another key under the same name is the fault of the file of keys, not of the database', async () => {
  const file = join(await scratchDir(), 'keys');
  addKey(`file:${file}`, '2026-01-01');
  const wrapped = await openKeys(`file:${file}`)?.wrap(newKey(), 'this');
  const [id] = (await readFile(file, 'utf8')).split(' ');
  await chmod(file, 0o600);
  await writeFile(file, `${id} ${Buffer.alloc(32).toString('base64')}\n`);
  if (wrapped === undefined) throw new Error('nothing is wrapped');
  await expect(openKeys(`file:${file}`)?.unwrap(wrapped, 'this')).rejects.toMatchObject({
    code: 'KEY_MISSING',
    message: expect.stringContaining(file),
  });
});
