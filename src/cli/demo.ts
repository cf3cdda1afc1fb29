import type { Command } from 'commander';
import { example, integer, placesOf } from './options.ts';
import { stopSignal } from './until-stopped.ts';

interface DemoOptions {
  once?: boolean;
  report?: string;
  seed: number;
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'Show everything on one machine: a sandbox partner, a played recruiter, five hires, one HRIS. Runs until Ctrl-C.',
    )
    .option('--once', 'end after the table: exit code 0 when every hire is verified, 1 otherwise')
    .option('--report <file>', 'write the counts as JSON')
    .option('--seed <n>', 'seed of the made-up people', integer(0, 2 ** 31), 7)
    .addHelpText('after', example('hirebridge demo', 'hirebridge demo --once --report demo.json'))
    .action(runDemoCommand);
}

async function runDemoCommand(options: DemoOptions, command: Command): Promise<void> {
  const stop = stopSignal();
  const { runDemo } = await import('./demo/run-demo.ts');
  process.exitCode = await runDemo({ dataDir: (await placesOf(command)).dataDir, ...options }, stop);
}
