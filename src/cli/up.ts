import type { Command } from 'commander';
import { example, placesOf, port } from './options.ts';
import { stopSignal } from './until-stopped.ts';

interface UpOptions {
  port?: number;
  host?: string;
  uiPort?: number;
}

export function addUp(program: Command): void {
  program
    .command('up')
    .description(
      'Run everything on this machine until Ctrl-C: receiver, worker, ' +
        'and Temporal unless TEMPORAL_ADDRESS or a profile names one.',
    )
    .option('--port <n>', 'port of the webhook address (default 8787, or HIREBRIDGE_PORT)', port)
    .option('--host <address>', 'address the receiver listens on (default 127.0.0.1, or HIREBRIDGE_HOST)')
    .option('--ui-port <n>', 'port of the Temporal web page, where Temporal is started here', port)
    .addHelpText('after', example('hirebridge up', 'hirebridge up --tenants ./tenants --data /var/lib/hirebridge'))
    .action(runUp);
}

async function runUp(options: UpOptions, command: Command): Promise<void> {
  const stop = stopSignal();
  const { startUp } = await import('./up/start-up.ts');
  const up = await startUp({ ...(await placesOf(command)), ...options }, stop);
  try {
    await up.ready;
    process.stdout.write(`${up.describe()}\n`);
    await up.untilStopped;
  } finally {
    await up.close();
  }
}
