import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { startConsole } from '../console/console.ts';
import { ConnectorError } from '../errors.ts';
import { createLogger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { withClient, withStore } from './open.ts';
import { asOption, byOf, example, placesOf, port } from './options.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

interface ConsoleFlags {
  port?: number;
  readOnly?: boolean;
  as?: string;
}

export function defineConsole(command: Command): void {
  command
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
      act: (use) => withClient(places, use),
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
  const token = resolveSecret(ref);
  if (token.length >= LEAST_TOKEN) return token;
  throw new ConnectorError({
    code: 'CONSOLE_TOKEN_SHORT',
    action: 'reject',
    message: `The token at ${ref} has fewer than ${LEAST_TOKEN} characters. Make one: openssl rand -base64 32`,
  });
}
