import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { heapOptions } from '../../src/cli/part.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

/** Stands in for the command line: says how it was started, and with `wait` ends when it is told to. */
const MAIN = `
const told = [];
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
  told.push(signal);
  setTimeout(() => { console.log(told.join()); process.exit(7); }, 200);
});
const arenas = process.env.MALLOC_ARENA_MAX;
const bundled = process.env.BUNDLED ?? 'no';
const [args, options] = [process.argv.slice(2), process.execArgv];
console.log(JSON.stringify({ bundled, args, options, arenas, pid: process.pid }));
if (process.argv[2] === 'wait') process.once('disconnect', () => process.exit());
else process.exit(3);
`;
const OLD_NODE = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.1.0'}})`;
const bundled = `node_modules/node-${process.platform}-${process.arch}`;

let folder: string;

beforeEach(async () => {
  folder = await scratchFolder();
  await cp(path.join(import.meta.dirname, '../../bin'), path.join(folder, 'bin'), { recursive: true });
  await mkdir(path.join(folder, 'dist/src/cli'), { recursive: true });
  await writeFile(path.join(folder, 'dist/src/cli/main.js'), MAIN);
});

async function bundleNode(): Promise<void> {
  await mkdir(path.join(folder, bundled), { recursive: true });
  await writeFile(path.join(folder, bundled, 'package.json'), '{ "bin": { "node": "node" } }');
  const script = `#!/bin/sh\nBUNDLED=yes exec "${process.execPath}" "$@"\n`;
  await writeFile(path.join(folder, bundled, 'node'), script, { mode: 0o755 });
}

function launch(nodeArgs: string[], args: string[]) {
  const { MALLOC_ARENA_MAX: _, ...env } = process.env;
  const launcher = spawn(process.execPath, [...nodeArgs, path.join(folder, 'bin/hirebridge.mjs'), ...args], { env });
  onTestFinished(() => void launcher.kill('SIGKILL'));
  const closed = once(launcher, 'close') as Promise<[number | null]>;
  const ended = Promise.all([text(launcher.stdout), text(launcher.stderr), closed]).then(
    ([stdout, stderr, [code]]) => ({ stdout, stderr, code }),
  );
  return { launcher, ended };
}

const onOldNode = (args: string[]) => launch(['--import', `data:text/javascript,${OLD_NODE}`], args);

async function untilItSpeaks(launcher: ChildProcess): Promise<void> {
  if (launcher.stdout !== null) await once(launcher.stdout, 'data');
}

test('a Node that is new enough runs the command line itself', async () => {
  await bundleNode();
  const { stdout, code } = await launch([], ['status', '--json']).ended;
  expect(JSON.parse(stdout)).toMatchObject({ bundled: 'no', args: ['status', '--json'] });
  expect(code).toBe(3);
});

test('an older Node hands over to the one that comes with the package, arguments and exit code included', async () => {
  await bundleNode();
  const { stdout, code } = await onOldNode(['status', '--json']).ended;
  expect(JSON.parse(stdout)).toMatchObject({ bundled: 'yes', args: ['status', '--json'] });
  expect(code).toBe(3);
});

test.runIf(process.platform === 'linux')(
  'a worker has few arenas for its many threads and a bounded heap, in the same process',
  async () => {
    const { launcher, ended } = launch([], ['worker', '--health-port', '0']);
    const { stdout } = await ended;
    expect(JSON.parse(stdout)).toMatchObject({
      args: ['worker', '--health-port', '0'],
      arenas: '2',
      options: heapOptions(['worker']),
      pid: launcher.pid,
    });
  },
);

test('so has one that is handed over', async () => {
  await bundleNode();
  const { stdout } = await onOldNode(['worker']).ended;
  expect(JSON.parse(stdout)).toMatchObject({ bundled: 'yes', options: heapOptions(['worker']) });
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s reaches the command once', async (signal) => {
  await bundleNode();
  const { launcher, ended } = onOldNode(['wait']);
  await untilItSpeaks(launcher);
  launcher.kill(signal);
  const { stdout, code } = await ended;
  expect(stdout.trim().split('\n').at(-1)).toBe(signal);
  expect(code).toBe(7);
});

test('a killed launcher takes its command with it', async () => {
  await bundleNode();
  const { launcher, ended } = onOldNode(['wait']);
  await untilItSpeaks(launcher);
  launcher.kill('SIGKILL');
  // Its output closes when the last process that holds it is gone.
  await expect(ended).resolves.toMatchObject({ code: null });
});

test('an older Node without another one says so in one line', async () => {
  const { stderr, code } = await onOldNode(['status']).ended;
  expect(stderr).toMatch(/^hirebridge needs Node 24 or newer\. This is Node 20\.1\.0, .*is not installed\.\n$/);
  expect(code).toBe(1);
});
