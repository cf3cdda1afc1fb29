import { createInterface } from 'node:readline/promises';

/** Asks whoever sits at the terminal; without one it is a no, said aloud. */
export async function isConfirmed(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true) {
    process.stderr.write(`${question} Nobody is here to confirm, so no. Add --yes.\n`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
