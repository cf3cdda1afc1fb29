import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { ConnectorError } from '../errors.ts';

/** Whether somebody is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks until the answer is one; questions go to standard error, so that output can be piped. */
export async function ask(question: string, wrong: (answer: string) => string | undefined): Promise<string> {
  for (;;) {
    const answer = await readAnswer(question, process.stderr);
    const why = wrong(answer);
    if (why === undefined) return answer;
    process.stderr.write(`  ${why}\n`);
  }
}

/** The same without showing what is typed. */
export async function askSecret(question: string): Promise<string> {
  process.stderr.write(`${question}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await readAnswer('', nowhere);
  process.stderr.write('\n');
  return answer === '' ? askSecret(question) : answer;
}

/** One of a numbered list. */
export async function choose(question: string, choices: readonly string[]): Promise<number> {
  process.stderr.write(`${question}:\n${choices.map((one, at) => `  ${at + 1}  ${one}`).join('\n')}\n`);
  const isChoice = (answer: string): boolean => choices[Number(answer) - 1] !== undefined;
  const expected = `Expected a number from 1 to ${choices.length}.`;
  return Number(await ask('Number', (answer) => (isChoice(answer) ? undefined : expected))) - 1;
}

async function readAnswer(question: string, output: NodeJS.WritableStream): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  const ended = once(terminal, 'close').then(() => Promise.reject(unanswered()));
  ended.catch(() => undefined);
  try {
    const answer = await Promise.race([terminal.question(question === '' ? '' : `${question}: `), ended]);
    return answer.trim();
  } finally {
    terminal.close();
  }
}

function unanswered(): ConnectorError {
  return new ConnectorError({ code: 'UNANSWERED', action: 'reject', message: 'Not answered, so nothing was done.' });
}

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
