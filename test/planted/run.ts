/**
 * Plants each bug in a throw-away copy of the tree and shows which check catches it: `npm run test:planted [--
 * NAME...]`.
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Check, PlantedBug } from './planted-bug.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['activities', 'mappings', 'src', 'test', 'workflows', 'package.json', 'tsconfig.json'];

interface Ending {
  code: number | null;
  output: string;
  seconds: number;
}

const wanted = process.argv.slice(2);
const names = (await readdir(new URL('bugs', import.meta.url)))
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name));
if (names.length === 0) throw new Error(`No planted bug is called ${wanted.join(' or ')}.`);
const bugs = await Promise.all(names.map(readBug));
const broken = await runControls(bugs);
const missed: string[] = [];
for (const bug of bugs) if (!(await isCaught(bug))) missed.push(bug.name);
console.log(`${bugs.length - missed.length} of ${bugs.length} planted bugs caught`);
if (missed.length > 0) console.log(`missed: ${missed.join(', ')}`);
process.exitCode = missed.length === 0 && broken === 0 ? 0 : 1;

async function readBug(name: string): Promise<PlantedBug> {
  const { bug } = (await import(new URL(`bugs/${name}.ts`, import.meta.url).href)) as { bug: PlantedBug };
  return bug;
}

/** Each check passes without its patch, or its failure would prove nothing. Says how many do not. */
async function runControls(all: readonly PlantedBug[]): Promise<number> {
  const checks = new Map(all.map(({ caughtBy }) => [caughtBy.command.join(' '), caughtBy]));
  let failed = 0;
  for (const [command, check] of checks) {
    const { code, output, seconds } = await inCopy([], (directory) => run(check, directory));
    console.log(`${code === 0 ? 'passes' : 'FAILS '}  unpatched${seconds.toFixed(0).padStart(33)} s  ${command}`);
    if (code === 0) continue;
    failed += 1;
    console.log(output.slice(-2_000));
  }
  return failed;
}

async function isCaught({ name, patches, caughtBy }: PlantedBug): Promise<boolean> {
  const { code, output, seconds } = await inCopy(patches, (directory) => run(caughtBy, directory)).catch(
    (error: unknown): Ending => ({ code: 0, output: String(error), seconds: 0 }),
  );
  const caught = code !== 0 && caughtBy.says.test(output);
  const by = caught ? evidence(caughtBy, output) : `by ${caughtBy.command.join(' ')} (ended ${code})`;
  console.log(`${caught ? 'caught' : 'MISSED'}  ${name.padEnd(38)} ${seconds.toFixed(0).padStart(3)} s  ${by}`);
  if (!caught) console.log(output.slice(-2_000));
  return caught;
}

async function inCopy<T>(patches: PlantedBug['patches'], use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'hirebridge-planted-'));
  try {
    for (const path of COPIED) await cp(join(ROOT, path), join(directory, path), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    for (const { file, find, replace } of patches) await patch(join(directory, file), find, replace);
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
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

function run({ command }: Check, cwd: string): Promise<Ending> {
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
