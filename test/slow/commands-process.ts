import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { runProgram } from '../../src/cli/program.ts';

/**
 * Runs one command line after the other, as `hirebridge` does, without a start of Node and of the product for each: a
 * line of JSON on standard input is a command's words, a line on descriptor 3 what it wrote and its exit code.
 */
const output: string[] = [];
for (const stream of [process.stdout, process.stderr]) {
  stream.setMaxListeners(0);
  stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    output.push(String(chunk));
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  };
}
// The program ends its process soon after each command.
const exit = process.exit.bind(process);
process.exit = (() => undefined) as unknown as typeof process.exit;
for await (const line of createInterface({ input: process.stdin })) {
  process.argv = [process.execPath, 'hirebridge', ...(JSON.parse(line) as string[])];
  process.exitCode = 0;
  output.length = 0;
  await runProgram();
  writeSync(3, `${JSON.stringify({ code: process.exitCode, output: output.join('') })}\n`);
}
exit(0);
