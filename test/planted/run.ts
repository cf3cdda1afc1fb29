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
let missed = 0;
for (const name of names) {
  const { bug } = (await import(new URL(`bugs/${name}.ts`, import.meta.url).href)) as { bug: PlantedBug };
  const caught = await inCopy(bug, (directory) => run(bug.caughtBy, directory)).catch(
    (error: unknown): Ending => ({ code: 0, output: String(error), seconds: 0 }),
  );
  const right = caught.code !== 0 && bug.caughtBy.says.test(caught.output);
  if (!right) missed += 1;
  const by = right
    ? evidence(bug.caughtBy, caught.output)
    : `MISSED by ${bug.caughtBy.command.join(' ')} (ended ${caught.code})`;
  console.log(
    `${right ? 'caught' : 'MISSED'}  ${bug.name.padEnd(36)} ${caught.seconds.toFixed(0).padStart(4)} s  ${by}`,
  );
  if (!right) console.log(caught.output.slice(-2_000));
}
console.log(`${names.length - missed} of ${names.length} planted bugs caught`);
process.exitCode = missed === 0 ? 0 : 1;

async function inCopy<T>(bug: PlantedBug, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'hirebridge-planted-'));
  try {
    for (const path of COPIED) await cp(join(ROOT, path), join(directory, path), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    for (const { file, find, replace } of bug.patches) await patch(join(directory, file), find, replace);
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
  const child = spawn(program, args, { cwd, env: { ...process.env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] });
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
