import { spawn } from 'node:child_process';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratchFolder } from '../harness/scratch-folder.ts';

const script = path.join(import.meta.dirname, '../../src/cli/ensure-installed.mjs');

/** Does what npm does to node_modules, slowly enough for two at once to meet, and notes that it ran. */
const FAKE_NPM = `
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
appendFileSync('npm-runs', process.argv.slice(2).join(' ') + '\\n');
rmSync('node_modules', { recursive: true, force: true });
await new Promise((resolve) => setTimeout(resolve, 300));
if (process.env.NPM_FAILS) process.exit(7);
mkdirSync('node_modules');
writeFileSync('node_modules/.package-lock.json', process.env.NPM_INSTALLS);
`;

let root: string;
const lockfile = (version: string) => JSON.stringify({ packages: { '': {}, 'node_modules/a': { version } } });

beforeEach(async () => {
  root = await scratchFolder();
  await writeFile(path.join(root, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(root, 'npm.js'), FAKE_NPM);
  await writeFile(path.join(root, 'package-lock.json'), lockfile('1.0.0'));
});

async function ensureInstalled(env: Record<string, string> = {}): Promise<{ code: number | null; said: string }> {
  const npm = { npm_execpath: path.join(root, 'npm.js'), npm_node_execpath: process.execPath };
  const child = spawn(process.execPath, [script, root], {
    env: { ...process.env, ...npm, NPM_INSTALLS: lockfile('1.0.0'), ...env },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, said };
}

async function npmRuns(): Promise<string[]> {
  const runs = await readFile(path.join(root, 'npm-runs'), 'utf8').catch(() => '');
  return runs.split('\n').filter((line) => line !== '');
}

test('installs without running install scripts when nothing is installed, and says so', async () => {
  const { code, said } = await ensureInstalled();
  expect(code).toBe(0);
  expect(said).toMatch(/installing dependencies \(once\)[\s\S]*installed in \d+ s/);
  expect(await npmRuns()).toEqual([expect.stringMatching(/^install --no-save --ignore-scripts/)]);
});

test('is silent and starts no npm when all is installed', async () => {
  await ensureInstalled();
  expect(await ensureInstalled()).toEqual({ code: 0, said: '' });
  expect(await npmRuns()).toHaveLength(1);
});

test('installs again when the lockfile changed', async () => {
  await ensureInstalled();
  await writeFile(path.join(root, 'package-lock.json'), lockfile('2.0.0'));
  await ensureInstalled({ NPM_INSTALLS: lockfile('2.0.0') });
  expect(await npmRuns()).toHaveLength(2);
});

test('accepts what an install by hand left, unless it left other versions', async () => {
  await mkdir(path.join(root, 'node_modules'));
  await writeFile(path.join(root, 'node_modules/.package-lock.json'), lockfile('1.0.0'));
  expect(await ensureInstalled()).toEqual({ code: 0, said: '' });
  expect(await npmRuns()).toEqual([]);

  const record = path.join(root, 'node_modules/.package-lock.json');
  await writeFile(record, lockfile('1.5.0'));
  await utimes(record, new Date(Date.now() + 1_000), new Date(Date.now() + 1_000));
  await ensureInstalled();
  expect(await npmRuns()).toHaveLength(1);
});

test('two commands at once install once, and both end well', async () => {
  const [one, other] = await Promise.all([ensureInstalled(), ensureInstalled()]);
  expect([one.code, other.code]).toEqual([0, 0]);
  expect(one.said + other.said).toMatch(/waiting for it/);
  expect(await npmRuns()).toHaveLength(1);
});

test('takes over from an installer that was killed', async () => {
  const lock = path.join(root, '.hirebridge-installing');
  await mkdir(lock);
  await utimes(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
  expect((await ensureInstalled()).code).toBe(0);
  expect(await npmRuns()).toHaveLength(1);
});

test('fails when npm fails, and tries again next time', async () => {
  expect((await ensureInstalled({ NPM_FAILS: '1' })).code).toBe(7);
  expect((await ensureInstalled()).code).toBe(0);
  expect(await npmRuns()).toHaveLength(2);
});
