import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import { candidatesOf } from './completion/candidates.ts';
import { scripts } from './completion/scripts.ts';
import { example, placesOf } from './options.ts';

type Shell = keyof typeof scripts;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print the completion script of a shell: commands, options, tenants.')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .argument('[words...]', 'what is typed so far; prints what may follow, as the script asks')
    .addHelpText(
      'after',
      example(
        'source <(hirebridge completion bash)     # in ~/.bashrc',
        'source <(hirebridge completion zsh)      # in ~/.zshrc, after compinit',
        'hirebridge completion fish | source      # in ~/.config/fish/config.fish',
      ),
    )
    .action((shell: Shell, words: string[], _options: object, command: Command) =>
      complete(program, shell, words, command),
    );
}

async function complete(program: Command, shell: Shell, words: readonly string[], command: Command): Promise<void> {
  if (words.length === 0) {
    process.stdout.write(scripts[shell]);
    return;
  }
  const found = candidatesOf(program, words, await tenantNames((await placesOf(command)).tenantsDir));
  process.stdout.write(found.map((one) => `${one}\n`).join(''));
}

/** As the files say it, valid or not: a person who presses Tab waits for nothing else. */
async function tenantNames(folder: string): Promise<string[]> {
  const files = (await readdir(folder).catch(() => [])).filter((name) => /\.ya?ml$/.test(name));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')));
  return texts.flatMap((text) => /^tenant: *["']?([a-z0-9-]+)/m.exec(text)?.[1] ?? []);
}
