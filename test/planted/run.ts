/**
 * Plants each bug in a throw-away copy of the tree and shows which check catches it: `npm run test:planted --
 * [--at-once N] [NAME...]`. Each check also runs without the bug, and has to pass there.
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Check, type PlantedBug, tests } from './planted-bug.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['activities', 'mappings', 'src', 'test', 'workflows', 'package.json', 'tsconfig.json'];

interface Ending {
  code: number | null;
  output: string;
  seconds: number;
}

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { 'at-once': { type: 'string', default: '1' } },
});
const names = (await readdir(new URL('bugs', import.meta.url)))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`No planted bug is called ${unknown.join(' or ')}.`);
const bugs = await Promise.all(names.map(readBug));
const missed: string[] = [];
/** By command without its number of seeds: the seeds after which each of its bugs is caught. */
const seeds = new Map<string, readonly string[]>();
let broken = await runTests([...new Set(bugs.flatMap(({ caughtBy }) => caughtBy.files ?? []))]);
const left = bugs.values();
await Promise.all(Array.from({ length: Number(values['at-once']) }, () => inCopy((copy) => playInTurn(copy, left))));
for (const command of seeds.values()) broken += (await runControl(command)).code === 0 ? 0 : 1;
console.log(`${bugs.length - missed.length} of ${bugs.length} planted bugs caught, ${broken} controls failed`);
if (missed.length > 0) console.log(`missed: ${missed.join(', ')}`);
process.exitCode = missed.length === 0 && broken === 0 ? 0 : 1;

async function readBug(name: string): Promise<PlantedBug> {
  const { bug } = (await import(new URL(`bugs/${name}.ts`, import.meta.url).href)) as { bug: PlantedBug };
  return bug;
}

/**
 * Each test passes without a bug, or its failure would prove nothing: all files in one run, and alone what failed
 * there. Says how many fail.
 */
async function runTests(files: readonly string[]): Promise<number> {
  if (files.length === 0) return 0;
  const { code, output } = await runControl(tests(/./, ...files).command);
  if (code === 0) return 0;
  const named = files.filter((file) => output.split('\n').some((line) => /FAIL /.test(line) && line.includes(file)));
  let failed = 0;
  for (const file of named.length > 0 ? named : files)
    if ((await runControl(tests(/./, file).command)).code !== 0) failed += 1;
  return failed;
}

async function runControl(command: readonly string[]): Promise<Ending> {
  const ending = await inCopy((copy) => run(command, copy));
  const { code, output, seconds } = ending;
  const line = command.join(' ');
  console.log(`${code === 0 ? 'passes' : 'FAILS '}  unpatched${seconds.toFixed(0).padStart(33)} s  ${line}`);
  if (code !== 0) console.log(output.slice(-2_000));
  return ending;
}

async function playInTurn(copy: string, all: Iterator<PlantedBug>): Promise<void> {
  for (let next = all.next(); next.done !== true; next = all.next())
    if (!(await isCaught(copy, next.value))) missed.push(next.value.name);
}

async function isCaught(copy: string, { name, patches, caughtBy }: PlantedBug): Promise<boolean> {
  const planted = (async () => {
    for (const { file, find, replace } of patches) await patch(join(copy, file), find, replace);
    return run(caughtBy.command, copy);
  })();
  const { code, output, seconds } = await planted.catch(
    (error: unknown): Ending => ({ code: 0, output: String(error), seconds: 0 }),
  );
  for (const { file } of patches) await cp(join(ROOT, file), join(copy, file));
  const caught = code !== 0 && caughtBy.says.test(output);
  const by = caught ? evidence(caughtBy, output) : `by ${caughtBy.command.join(' ')} (ended ${code})`;
  console.log(`${caught ? 'caught' : 'MISSED'}  ${name.padEnd(38)} ${seconds.toFixed(0).padStart(3)} s  ${by}`);
  if (!caught) console.log(output.slice(-2_000));
  else noteSeeds(caughtBy.command, output);
  return caught;
}

/** A seed that catches a bug has to pass without it, and so have those before; the seeds after it prove nothing. */
function noteSeeds(command: readonly string[], output: string): void {
  const at = command.indexOf('--seeds') + 1;
  if (at === 0) return;
  const first = Number(command[command.indexOf('--from') + 1]) || 1;
  const caught = Math.max(...Array.from(output.matchAll(/^seed (\d+):/gm), ([, seed]) => Number(seed)));
  const key = command.toSpliced(at, 1).join(' ');
  const count = Math.max(caught - first + 1, Number(seeds.get(key)?.[at] ?? 1));
  seeds.set(key, command.with(at, String(count)));
}

async function inCopy<T>(use: (copy: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(tmpdir(), 'hirebridge-planted-'));
  try {
    for (const path of COPIED) await cp(join(ROOT, path), join(copy, path), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    return await use(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** A patch that no longer fits would prove nothing, so it is an error. */
async function patch(path: string, find: string, replace: string): Promise<void> {
  const source = await readFile(path, 'utf8');
  const times = source.split(find).length - 1;
  if (times !== 1) throw new Error(`${path}: the place to plant stands there ${times} times, once is needed`);
  await writeFile(
    path,
    source.replace(find, () => replace),
  );
}

function run(command: readonly string[], cwd: string): Promise<Ending> {
  const [program = '', ...args] = command;
  const began = performance.now();
  const path = `${join(cwd, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ code, output, seconds: (performance.now() - began) / 1000 })),
  );
}

/** The line that gave it away. */
function evidence({ says }: Check, output: string): string {
  return (output.split('\n').find((line) => says.test(line)) ?? '').trim().slice(0, 120);
}
