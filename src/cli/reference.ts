import type { Argument, Command } from 'commander';
import { settingsReference, wrap } from '../operator/reference.ts';
import type { Dispatch } from '../worker/dispatch.ts';
import { dispatch } from '../worker/dispatch.ts';
import { catalogues } from './catalogues.ts';
import { example, type LoadCommand } from './options.ts';

/** `load` gives a command of the program its options and commands, which are read only when they are needed. */
export function defineReference(command: Command, load: LoadCommand): void {
  command
    .description(
      'Write the reference of commands, file keys, holds, states, source paths, fields and metrics, as Markdown.',
    )
    .addHelpText('after', example('hirebridge reference > docs/reference.md'))
    .action(async () => {
      const all = command.parent?.commands ?? [];
      await Promise.all(all.map(load));
      writeReference(all, await catalogues());
    });
}

function writeReference(all: readonly Command[], named: readonly string[]): void {
  const commands = ['## Commands', ...all.flatMap((command) => commandLines(command, 'hirebridge'))];
  const head = ['# Reference', '', 'Written by `hirebridge reference`; a test keeps it equal.', ''];
  const lines = [...eventLines(dispatch), '', ...named.map(wrapped), '', ...commands.map(wrap)];
  process.stdout.write(`${[...head, settingsReference(), '', ...lines].join('\n')}\n`);
}

/** A table's row stays in one line. */
function wrapped(line: string): string {
  return line.startsWith('|') ? line : wrap(line);
}

/** What each of the partner's events leads to. */
function eventLines(dispatch: Readonly<Record<string, Dispatch>>): string[] {
  const rows = Object.entries(dispatch).map(([event, { hires, streams = {}, nothing }]) => {
    const parts = [...(hires === undefined ? [] : ['hires']), ...Object.keys(streams).map((name) => `\`${name}\``)];
    return `| \`${event}\` | ${parts.length === 0 ? `nothing: ${nothing ?? ''}` : parts.join(', ')} |`;
  });
  const about =
    'A webhook is a hint: what it names is read again. Streams follow only where the tenant file runs them.';
  return ['## Events', '', about, '', '| event | hints at |', '|---|---|', ...rows];
}

function commandLines(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const inner = command.commands.flatMap((one) => commandLines(one, name));
  // A group has no options of its own.
  if (inner.length > 0 && command.options.length === 0) return inner;
  const usage = [name, ...command.registeredArguments.map(argumentText)].join(' ');
  const options = command.options.map(
    ({ flags, description, argChoices }) =>
      `- \`${flags}\`: ${description}${argChoices === undefined ? '' : ` (${argChoices.join(', ')})`}`,
  );
  const args = command.registeredArguments.map((one) => `- \`${argumentText(one)}\`: ${one.description}`);
  return ['', `### \`${usage}\``, '', command.description(), ...listOf([...args, ...options]), ...inner];
}

function listOf(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function argumentText(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}
