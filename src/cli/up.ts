import type { Command } from 'commander';
import { example, placesOf, port } from './options.ts';
import { stopSignal } from './until-stopped.ts';
import type { UpConsole } from './up/up-console.ts';

interface UpOptions {
  port?: number;
  host?: string;
  uiPort?: number;
  console: boolean;
  consolePort?: number;
}

export function addUp(program: Command): void {
  program
    .command('up')
    .description(
      "Run everything on this machine until Ctrl-C: receiver, worker, the operator's pages, " +
        'and Temporal unless TEMPORAL_ADDRESS or a profile names one.',
    )
    .option('--port <n>', 'port of the webhook address (default 8787, or HIREBRIDGE_PORT)', port)
    .option('--host <address>', 'address the receiver listens on (default 127.0.0.1, or HIREBRIDGE_HOST)')
    .option('--ui-port <n>', 'port of the Temporal web page, where Temporal is started here', port)
    .option(
      '--console-port <n>',
      "port of the operator's pages (default 8790, or a free one where that is taken)",
      port,
    )
    .option('--no-console', "without the operator's pages")
    .addHelpText('after', example('hirebridge up', 'hirebridge up --tenants ./tenants --data /var/lib/hirebridge'))
    .action(runUp);
}

async function runUp({ console: wanted, consolePort, ...options }: UpOptions, command: Command): Promise<void> {
  const stop = stopSignal();
  const [{ startUp }, { startUpConsole }] = await Promise.all([
    import('./up/start-up.ts'),
    import('./up/up-console.ts'),
  ]);
  const places = await placesOf(command);
  const up = await startUp({ ...places, ...options }, stop);
  let pages: UpConsole | undefined;
  try {
    await up.ready;
    // The pages take the store as it is: only now is it there, and up to date.
    if (wanted && !stop.aborted) pages = await startUpConsole(places, { port: consolePort, env: up.temporal.env });
    process.stdout.write(`${pages === undefined ? '' : `console          ${pages.address}\n`}${up.describe()}\n`);
    await Promise.race([up.untilStopped, ...(pages === undefined ? [] : [pages.failed])]);
  } finally {
    await Promise.all([pages?.close(), up.close()]);
  }
}
