import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runCommand } from '../harness/run-command.ts';
import { tenantDir } from './cli-process.ts';

async function proposed(...words: string[]): Promise<string[]> {
  const { stdout, code } = await runCommand(['--tenants', await tenantDir(), 'completion', 'bash', '--', ...words]);
  expect(code).toBe(0);
  return stdout.split('\n').filter((line) => line !== '');
}

test.each<[string[], string[]]>([
  [['chec'], ['check']],
  [
    ['mapping', 's'],
    ['show', 'schema'],
  ],
  [['check', ''], ['acme']],
  [
    ['mapping', 'show', 'acme', 'c'],
    ['candidates', 'consents'],
  ],
  [['mapping', 'show', 'acme', '--j'], ['--json']],
  [['--tenants', './here', 'freez'], ['freeze']],
  [['sync', '--one', ''], []],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
])('after %j comes %j', async (words, expected) => {
  expect(await proposed(...words)).toEqual(expected);
});

test('bash completes by the script that is printed for it', async () => {
  const { stdout: script } = await runCommand(['completion', 'bash']);
  const dir = await tenantDir();
  const main = join(import.meta.dirname, '../../src/cli/main.ts');
  const file = join(dir, 'complete.sh');
  const lines = [
    `hirebridge() { '${process.execPath}' '${main}' "$@"; }`,
    script,
    'COMP_WORDS=(hirebridge tenant show "") COMP_CWORD=3',
    '_hirebridge; echo "${COMPREPLY[@]}"',
  ];
  await writeFile(file, lines.join('\n'));
  const { stdout } = await promisify(execFile)('bash', [file], { env: { ...process.env, HIREBRIDGE_TENANTS: dir } });
  expect(stdout).toBe('acme\n');
});

test.each(['zsh', 'fish'])('the script for %s asks for the words that follow', async (shell) => {
  const { stdout } = await runCommand(['completion', shell]);
  expect(stdout).toContain(`hirebridge completion ${shell} -- `);
});
