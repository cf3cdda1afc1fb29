import { rejected } from '../errors.ts';
import { harmless } from './command.ts';

/** Whether a person is at the terminal to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Loaded with the first question: most commands ask none. */
const clack = () => import('@clack/prompts');

/** Questions go to standard error, so that output can be piped. */
const output = process.stderr;

/** Asks until the answer is valid; `wrong` says why it is not. */
export async function ask(
  message: string,
  wrong: (answer: string) => string | undefined,
  initialValue?: string,
): Promise<string> {
  const { text } = await clack();
  const validate = (answer = ''): string | undefined => wrong(answer.trim());
  const begun = initialValue === undefined ? {} : { initialValue };
  return answered(await text({ message, validate, output, ...begun })).trim();
}

/** The same, without showing the input. */
export async function askSecret(message: string, { orNothing = false } = {}): Promise<string> {
  const { password } = await clack();
  const validate = (answer: string | undefined): string | undefined =>
    orNothing || answer?.trim() ? undefined : 'Expected a key.';
  return answered((await password({ message, validate, output })) ?? '').trim();
}

interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** Lets a person choose from a list with arrow keys and Enter. */
export async function choose(message: string, choices: readonly Choice[]): Promise<string> {
  return answered(await (await clack()).select<string>({ message, options: choices.map(shown), output }));
}

/** Lets a person choose from a long list by typing part of an entry. */
export async function search(message: string, choices: readonly Choice[]): Promise<string> {
  const { autocomplete } = await clack();
  return answered(await autocomplete<string>({ message, options: choices.map(shown), maxItems: 10, output }));
}

/** Names of tables, columns and fields come from other systems. */
function shown({ value, label, hint }: Choice): Choice {
  return { value, label: harmless(label), ...(hint === undefined ? {} : { hint: harmless(hint) }) };
}

/** Prints a line between two questions. */
export async function tell(text: string): Promise<void> {
  (await clack()).log.message(harmless(text), { output });
}

/** Reports a failed attempt; the question is asked again. */
export async function tellWrong(text: string): Promise<void> {
  (await clack()).log.error(harmless(text), { output });
}

/** Asks the person at the terminal unless `--yes` answers; without a terminal the answer is no, and that is printed. */
export async function isConfirmed({ yes }: { yes?: boolean }, message: string): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk()) {
    process.stderr.write(`${message} There is no terminal to confirm on, so nothing was done. Add --yes.\n`);
    return false;
  }
  return answered(await (await clack()).confirm({ message, initialValue: false, output }));
}

/** Ctrl-C and Escape end the command. @throws ConnectorError INTERRUPTED */
function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer !== 'symbol') return answer as Exclude<Value, symbol>;
  throw rejected('INTERRUPTED', 'Stopped, and nothing was done.');
}
