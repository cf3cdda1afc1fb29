import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Store } from '../store/open-store.ts';
import { announce } from './announce.ts';
import { example, placesOf, port } from './options.ts';
import { asOption, byOf } from './tenant/by.ts';
import { stopSignal, whenStopped } from './until-stopped.ts';
import { useEmbeddedTemporal } from './up/embedded-address.ts';
import { withStore } from './with-store.ts';

interface ConsoleFlags {
  port?: number;
  readOnly?: boolean;
  as?: string;
}

export function addConsole(program: Command): void {
  const command = program
    .command('console')
    .description(
      "Serve the operator's pages on loopback: what needs a person, hires and their story, holds to answer, " +
        'deliveries and streams. A page does what the command of its name does.',
    )
    .option('--port <n>', 'port of the pages (default 8790, or HIREBRIDGE_CONSOLE_PORT; 0 takes a free one)', port)
    .option('--read-only', 'nothing can be done on the pages');
  asOption(command)
    .addHelpText('after', example('hirebridge console', 'hirebridge console --read-only --port 9000'))
    .action(runConsole);
}

async function runConsole(flags: ConsoleFlags, command: Command): Promise<void> {
  const stop = stopSignal();
  const places = await placesOf(command);
  const [{ startConsole }, { readConfig }, { createLogger }, { withClient }] = await Promise.all([
    import('../console/console.ts'),
    import('../config.ts'),
    import('../log.ts'),
    import('./with-client.ts'),
  ]);
  const { HIREBRIDGE_CONSOLE_PORT: usualPort, HIREBRIDGE_CONSOLE_TOKEN: ref } = readConfig();
  const token = ref === undefined ? randomBytes(32).toString('base64url') : await keptToken(ref);
  const serve = async (store: Store): Promise<void> => {
    const running = await startConsole({
      places,
      store,
      token,
      by: byOf(flags),
      readOnly: flags.readOnly === true,
      port: flags.port ?? usualPort,
      log: createLogger('console'),
      act: async (use) => {
        await useEmbeddedTemporal(places.dataDir);
        return withClient(places, use);
      },
    });
    announce({ console: running.url });
    // A token of a setting is known to whoever set it, and is shown nowhere.
    const address = ref === undefined ? `${running.url}/?token=${token}` : running.url;
    process.stdout.write(`console  ${address}\n`);
    await whenStopped(stop);
    await running.close();
  };
  await withStore(places, serve, { mustExist: true });
}

const LEAST_TOKEN = 20;

async function keptToken(ref: string): Promise<string> {
  const [{ resolveSecret }, { ConnectorError }] = await Promise.all([
    import('../tenants/secrets.ts'),
    import('../errors.ts'),
  ]);
  const token = resolveSecret(ref);
  if (token.length >= LEAST_TOKEN) return token;
  throw new ConnectorError({
    code: 'CONSOLE_TOKEN_SHORT',
    action: 'reject',
    message: `The token at ${ref} has fewer than ${LEAST_TOKEN} characters. Make one: openssl rand -base64 32`,
  });
}
