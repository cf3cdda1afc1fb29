import type { Argument, Command } from 'commander';
import type { Dispatch } from '../worker/dispatch.ts';
import { example } from './options.ts';

export function addReference(program: Command): void {
  program
    .command('reference')
    .description('Write the reference of every command, file key and environment variable, as Markdown.')
    .addHelpText('after', example('hirebridge reference > docs/reference.md'))
    .action(() => runReference(program));
}

async function runReference(program: Command): Promise<void> {
  const [{ settingsReference, wrap }, { dispatch }] = await Promise.all([
    import('../operator/reference/settings-reference.ts'),
    import('../worker/dispatch.ts'),
  ]);
  const commands = ['## Commands', ...program.commands.flatMap((command) => commandLines(command, 'hirebridge'))];
  const head = ['# Reference', '', 'Written by `hirebridge reference`; a test keeps it equal.', ''];
  process.stdout.write(
    `${[...head, settingsReference(), '', ...eventLines(dispatch), '', ...commands.map(wrap)].join('\n')}\n`,
  );
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
  if (command.commands.length > 0) return command.commands.flatMap((inner) => commandLines(inner, name));
  const usage = [name, ...command.registeredArguments.map(argumentText)].join(' ');
  const options = command.options.map(
    ({ flags, description, argChoices }) =>
      `- \`${flags}\`: ${description}${argChoices === undefined ? '' : ` (${argChoices.join(', ')})`}`,
  );
  const args = command.registeredArguments.map((one) => `- \`${argumentText(one)}\`: ${one.description}`);
  return ['', `### \`${usage}\``, '', command.description(), ...listOf([...args, ...options])];
}

function listOf(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function argumentText(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}
