import { ConnectorError } from '../errors.ts';

/** Whether somebody is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Loaded with the first question: most commands ask none. */
const clack = () => import('@clack/prompts');

/** Questions go to standard error, so that output can be piped. */
const output = process.stderr;

type Wrong = (answer: string) => string | undefined;

/** Asks until the answer is one. */
export async function ask(message: string, wrong: Wrong, initialValue?: string): Promise<string> {
  const { text } = await clack();
  const validate = (answer: string | undefined): string | undefined => wrong((answer ?? '').trim());
  return answered(
    await text({ message, validate, output, ...(initialValue === undefined ? {} : { initialValue }) }),
  ).trim();
}

/** The same without showing what is typed. */
export async function askSecret(message: string, { orNothing = false } = {}): Promise<string> {
  const { password } = await clack();
  const validate = (answer: string | undefined): string | undefined =>
    orNothing || answer?.trim() ? undefined : 'Expected a key.';
  return answered((await password({ message, validate, output })) ?? '').trim();
}

/** One of a list, with the keys of arrows and Enter. */
export async function choose<Value extends string>(
  message: string,
  options: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const { select } = await clack();
  return answered(await select<string>({ message, options: [...options], output })) as Value;
}

/** One of a long list, by typing a part of it. */
export async function search<Value extends string>(
  message: string,
  options: readonly { value: Value; label: string; hint?: string }[],
): Promise<Value> {
  const { autocomplete } = await clack();
  return answered(await autocomplete<string>({ message, options: [...options], maxItems: 10, output })) as Value;
}

/** A line between two questions. */
export async function tell(text: string): Promise<void> {
  (await clack()).log.message(text, { output });
}

/** What was asked for and could not be; the question comes again. */
export async function tellWrong(text: string): Promise<void> {
  (await clack()).log.error(text, { output });
}

/** Asks whoever sits at the terminal; without one it is a no, said aloud. */
export async function isConfirmed(message: string): Promise<boolean> {
  if (!canAsk()) {
    process.stderr.write(`${message} Nobody is here to confirm, so no. Add --yes.\n`);
    return false;
  }
  return answered(await (await clack()).confirm({ message, initialValue: false, output }));
}

/** Ctrl-C and Escape end the command. @throws ConnectorError INTERRUPTED */
function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer !== 'symbol') return answer as Exclude<Value, symbol>;
  throw new ConnectorError({ code: 'INTERRUPTED', action: 'reject', message: 'Stopped, and nothing was done.' });
}
