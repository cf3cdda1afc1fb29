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

type Wrong = (answer: string) => string | undefined;

/** Asks until the answer is valid. */
export async function ask(message: string, wrong: Wrong, initialValue?: string): Promise<string> {
  const { text } = await clack();
  const validate = (answer: string | undefined): string | undefined => wrong((answer ?? '').trim());
  return answered(
    await text({ message, validate, output, ...(initialValue === undefined ? {} : { initialValue }) }),
  ).trim();
}

/** The same, without showing the input. */
export async function askSecret(message: string, { orNothing = false } = {}): Promise<string> {
  const { password } = await clack();
  const validate = (answer: string | undefined): string | undefined =>
    orNothing || answer?.trim() ? undefined : 'Expected a key.';
  return answered((await password({ message, validate, output })) ?? '').trim();
}

/** Lets a person choose from a list with arrow keys and Enter. */
export async function choose<Value extends string>(
  message: string,
  options: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const { select } = await clack();
  return answered(await select<string>({ message, options: options.map(shown), output })) as Value;
}

/** Lets a person choose from a long list by typing part of an entry. */
export async function search<Value extends string>(
  message: string,
  options: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const { autocomplete } = await clack();
  return answered(await autocomplete<string>({ message, options: options.map(shown), maxItems: 10, output })) as Value;
}

/** Names of tables, columns and fields come from other systems. */
function shown<Option extends { label: string; hint?: string }>(option: Option): Option {
  const { label, hint } = option;
  return { ...option, label: harmless(label), ...(hint === undefined ? {} : { hint: harmless(hint) }) };
}

/** Prints a line between two questions. */
export async function tell(text: string): Promise<void> {
  (await clack()).log.message(harmless(text), { output });
}

/** Reports a failed attempt; the question is asked again. */
export async function tellWrong(text: string): Promise<void> {
  (await clack()).log.error(harmless(text), { output });
}

/** Asks the person at the terminal; without a terminal the answer is no, and that is printed. */
export async function isConfirmed(message: string): Promise<boolean> {
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
