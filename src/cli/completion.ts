import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, type Command, type Option } from 'commander';
import { example, type LoadCommand, placesOf } from './command.ts';

type Shell = keyof typeof scripts;

export const commands = { completion: defineCompletion };

/** `load` adds a command's options and commands, which are read only when needed. */
function defineCompletion(command: Command, load: LoadCommand): void {
  command
    .description('Print the completion script of a shell: commands, options, tenants.')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .argument('[words...]', 'words typed so far; prints what may follow (the script uses it)')
    .addHelpText(
      'after',
      example(
        'source <(hirebridge completion bash)     # in ~/.bashrc',
        'source <(hirebridge completion zsh)      # in ~/.zshrc, after compinit',
        'hirebridge completion fish | source      # in ~/.config/fish/config.fish',
      ),
    )
    .action((shell: Shell, words: string[], _options: object, own: Command) => complete(shell, words, own, load));
}

async function complete(shell: Shell, words: readonly string[], command: Command, load: LoadCommand): Promise<void> {
  if (words.length === 0) {
    process.stdout.write(scripts[shell]);
    return;
  }
  const program = command.parent as Command;
  const named = program.commands.find((one) => words.slice(0, -1).includes(one.name()));
  if (named !== undefined) await load(named);
  const found = candidatesOf(program, words, await tenantNames((await placesOf(command)).tenantsDir));
  process.stdout.write(found.map((one) => `${one}\n`).join(''));
}

/** Read from files that may be invalid: a person who presses Tab should not wait. */
async function tenantNames(folder: string): Promise<string[]> {
  const files = (await readdir(folder).catch(() => [])).filter((name) => /\.ya?ml$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
  return texts.flatMap((text) => /^tenant: *["']?([a-z0-9-]+)/m.exec(text)?.[1] ?? []);
}

/**
 * The words that may stand at the cursor: commands, options, and values of arguments. Empty if anything may stand
 * there, for instance a file.
 */
function candidatesOf(program: Command, words: readonly string[], tenants: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  const { command, place, open } = walk(program, words.slice(0, -1));
  return proposals(command, place, { typed, open, tenants }).filter((one) => one.startsWith(typed));
}

interface Reached {
  command: Command;
  /** The number of arguments given so far. */
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

/** A command's own options and those of its parents, which it accepts too. */
function optionsOf(command: Command): Option[] {
  const above = command.parent === null ? [] : optionsOf(command.parent);
  return [...command.options, ...above].filter((option) => !option.hidden);
}

/** Each script asks hirebridge for the possible words, and completes file names if there are none. */
const scripts = {
  bash: `_hirebridge() {
  local IFS=$'\\n'
  COMPREPLY=($(hirebridge completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _hirebridge hirebridge
`,
  zsh: `#compdef hirebridge
_hirebridge() {
  local -a found
  found=(\${(f)"$(hirebridge completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _hirebridge hirebridge
`,
  fish: `function __hirebridge
    set -l words (commandline -opc)
    set -l found (hirebridge completion fish -- $words[2..] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c hirebridge -f -a '(__hirebridge)'
`,
} as const;
