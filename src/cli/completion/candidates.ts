import type { Command, Option } from 'commander';

/**
 * What may stand where the last word is being typed: commands, options, and what an argument accepts. Nothing where it
 * may be anything, a file for instance.
 */
export function candidatesOf(program: Command, words: readonly string[], tenants: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  const { command, place, open } = walk(program, words.slice(0, -1));
  return proposals(command, place, { typed, open, tenants }).filter((one) => one.startsWith(typed));
}

interface Reached {
  command: Command;
  /** How many of its arguments were given. */
  place: number;
  /** The option whose value comes next. */
  open: Option | undefined;
}

function walk(program: Command, words: readonly string[]): Reached {
  let reached: Reached = { command: program, place: 0, open: undefined };
  for (const word of words) reached = step(reached, word);
  return reached;
}

function step({ command, place, open }: Reached, word: string): Reached {
  if (open !== undefined) return { command, place, open: undefined };
  if (word.startsWith('-')) {
    const option = optionsOf(command).find(({ long, short }) => long === word || short === word);
    return { command, place, open: option !== undefined && !option.isBoolean() ? option : undefined };
  }
  const inner = command.commands.find((one) => one.name() === word);
  return inner === undefined ? { command, place: place + 1, open } : { command: inner, place: 0, open };
}

interface Typing {
  typed: string;
  open: Option | undefined;
  tenants: readonly string[];
}

function proposals(command: Command, place: number, { typed, open, tenants }: Typing): readonly string[] {
  if (open !== undefined) return open.argChoices ?? (open.attributeName() === 'tenant' ? tenants : []);
  if (typed.startsWith('-')) return [...optionsOf(command).flatMap(({ long }) => long ?? []), '--help'];
  if (command.commands.length > 0) return command.commands.map((one) => one.name());
  const argument = command.registeredArguments[place];
  if (argument === undefined) return [];
  return argument.argChoices ?? (argument.name() === 'tenant' ? tenants : []);
}

/** Its own and those of the commands above it, which it takes as well. */
function optionsOf(command: Command): Option[] {
  const above = command.parent === null ? [] : optionsOf(command.parent);
  return [...command.options, ...above].filter((option) => !option.hidden);
}
