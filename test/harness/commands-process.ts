import { createInterface } from 'node:readline';
import { runProgram } from '../../src/cli/program.ts';

/**
 * Runs one command line after the other, as `hirebridge` does, without a start of Node and of the product for each: a
 * line of JSON on standard input is a command's words and its environment. What it wrote ends, on standard output and
 * on standard error, with the mark and its exit code.
 */
interface Line {
  words: string[];
  env: Record<string, string>;
  cwd: string;
  mark: string;
}

process.setMaxListeners(0);
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
// The program ends its process soon after each command.
const exit = process.exit.bind(process);
process.exit = (() => undefined) as unknown as typeof process.exit;
for await (const line of createInterface({ input: process.stdin })) {
  const { words, env, cwd, mark } = JSON.parse(line) as Line;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, 'hirebridge', ...words];
  process.exitCode = 0;
  await runProgram();
  for (const stream of [process.stdout, process.stderr]) stream.write(`${mark} ${process.exitCode}\n`);
}
exit(0);
