import { type Command, Option } from 'commander';
import { DEMO_KINDS, type DemoKind } from './demo/demo-kinds.ts';
import { example, integer, placesOf } from './options.ts';
import { stopSignal } from './until-stopped.ts';

interface DemoOptions {
  once?: boolean;
  report?: string;
  seed: number;
  hris: DemoKind;
}

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'Show everything on one machine: a sandbox partner, a played recruiter, five hires, one HRIS. Runs until Ctrl-C.',
    )
    .option('--once', 'end after the table: exit code 0 when every hire is verified, 1 otherwise')
    .option('--report <file>', 'write the counts as JSON')
    .addOption(
      new Option(
        '--hris <kind>',
        'the HR system; what another than sql needs is installed with apt-get, and scim with pip',
      )
        .choices(DEMO_KINDS)
        .default('sql'),
    )
    .option('--seed <n>', 'seed of the made-up people', integer(0, 2 ** 31), 7)
    .addHelpText('after', example('hirebridge demo', 'hirebridge demo --once --hris tryton'))
    .action(runDemoCommand);
}

async function runDemoCommand(options: DemoOptions, command: Command): Promise<void> {
  const stop = stopSignal();
  const { runDemo } = await import('./demo/run-demo.ts');
  process.exitCode = await runDemo({ dataDir: (await placesOf(command)).dataDir, ...options }, stop);
}
