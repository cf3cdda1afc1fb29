import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/counterparts/free-port.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { until } from '../harness/until.ts';

const root = path.join(import.meta.dirname, '../..');

/** The commands of README's section, as they stand there; a trailing backslash joins two lines. */
async function commandsOf(section: string): Promise<string[]> {
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const [, body = ''] = readme.split(`\n## ${section}\n`);
  const [, block = ''] = /```\n(.*?)```/s.exec(body.split('\n## ')[0] ?? '') ?? [];
  return block
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n');
}

/** A folder with nothing but `hirebridge` on its path. */
async function emptyFolder(): Promise<{ cwd: string; env: NodeJS.ProcessEnv }> {
  const folder = await scratchFolder();
  const [bin, cwd] = [path.join(folder, 'bin'), path.join(folder, 'empty')];
  await Promise.all([mkdir(bin), mkdir(cwd)]);
  const launcher = path.join(bin, 'hirebridge');
  await writeFile(launcher, `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, 'src/cli/main.ts')}" "$@"\n`);
  await chmod(launcher, 0o755);
  const { address } = await temporalForTests();
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: process.env['HOME'],
    TEMPORAL_ADDRESS: address,
    HIREBRIDGE_PORT: String(await freePort()),
    LOG_LEVEL: 'error',
  };
  return { cwd, env };
}

function shell(command: string, place: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child: ChildProcess = spawn('/bin/sh', ['-c', `exec ${command}`], {
    ...place,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill();
    await closed;
  });
  return { closed, output: () => output, isOver: () => child.exitCode !== null };
}

/** To its end, or with `&` until it says that it stays. */
async function run(line: string, place: { cwd: string; env: NodeJS.ProcessEnv }): Promise<string> {
  const started = shell(line.replace(/ &$/, ''), place);
  if (!line.endsWith(' &')) {
    const [code] = await started.closed;
    expect([code, started.output()], line).toEqual([0, expect.anything()]);
    return started.output();
  }
  const stays = async (): Promise<boolean> => {
    if (started.isOver()) throw new Error(`${line} ended: ${started.output()}`);
    return started.output().includes('until Ctrl-C');
  };
  await until(line, stays, { timeoutMs: 240_000 });
  return started.output();
}

test('README leads from an empty folder to a second tenant on the sandbox in at most six commands', async () => {
  const place = await emptyFolder();
  const commands = await commandsOf('Add a tenant');
  expect(commands.length).toBeLessThanOrEqual(6);
  const port = await freePort();
  const ports = ` --port ${port} --control-port ${await freePort()}`;
  for (const command of commands) {
    // The walk's own ports may be taken on this machine.
    const own = command.replaceAll(':8800/', `:${port}/`).replace(/ sandbox /, (word) => `${word.trimEnd()}${ports} `);
    await run(own, place);
  }
  const live = async (): Promise<boolean> =>
    (await run('hirebridge check globex', place)).includes('The tenant is active and its first reconcile is done');
  await until('the second tenant is live', live, { timeoutMs: 120_000, everyMs: 1_000 });
});
