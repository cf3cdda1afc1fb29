import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type Places, readConfig } from '../config.ts';
import { type Access, isLoopback, longEnough, readAccess } from '../console/acts.ts';
import { startConsole } from '../console/console.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { createLogger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { resolveSecret } from '../tenants/secrets.ts';
import { AS, byOf, example, port } from './command.ts';
import { withClient, withStore } from './open.ts';
import { announce, stopSignal, whenStopped } from './part.ts';

interface ConsoleFlags {
  port?: number;
  host?: string;
  access?: string;
  as?: string;
}

export const commands = { console: defineConsole };

function defineConsole(command: Command): void {
  command
    .description(
      "Serve the operator's pages: open problems, hires and their story, holds to answer, streams, " +
        'deliveries, changes. A button does what the command of its name does. On loopback, anyone with the ' +
        'printed address may do everything; an access file says who else may sign in, and what they may do.',
    )
    .option('--port <n>', 'port of the pages (default 8790, or HIREBRIDGE_CONSOLE_PORT; 0 takes a free one)', port)
    .option('--access <file>', 'file with the people who may sign in, by token or OpenID Connect, and their roles')
    .option('--host <address>', 'address to listen on (default 127.0.0.1); others need --access')
    .option(...AS)
    .addHelpText('after', example('hirebridge console', 'hirebridge console --access console.yaml'))
    .action(runConsole);
}

async function runConsole(flags: ConsoleFlags, command: Command): Promise<void> {
  const stop = stopSignal();
  const config = readConfig();
  const { HIREBRIDGE_CONSOLE_PORT: usualPort, HIREBRIDGE_CONSOLE_TOKEN: ref } = config;
  const { access, token } = await admission(flags, ref);
  const serve = async (store: Store, places: Places): Promise<void> => {
    const running = await startConsole({
      places,
      store,
      access,
      temporalUi: config.HIREBRIDGE_TEMPORAL_UI,
      ...(flags.host === undefined ? {} : { host: flags.host }),
      port: flags.port ?? usualPort,
      log: createLogger('console'),
      act: (use) => withClient(places, use),
    });
    announce({ console: running.url });
    // Never print a token that comes from a setting: its owner knows it.
    const address = token === undefined ? (access.url?.href ?? running.url) : `${running.url}/?token=${token}`;
    process.stdout.write(`console  ${address}\n`);
    await whenStopped(stop);
    await running.close();
  };
  await withStore(command, serve);
}

/** Who may enter: the people in the access file or, on loopback, anyone with the token that is printed or set. */
async function admission(
  { access: file, host = '127.0.0.1', ...who }: ConsoleFlags,
  ref: string | undefined,
): Promise<{ access: Pick<Access, 'tokens' | 'oidc'> & { url?: URL }; token: string | undefined }> {
  if (file !== undefined) return { access: await readAccess(file), token: undefined };
  if (!isLoopback(host)) throw openToAll(host);
  const token = ref === undefined ? randomBytes(32).toString('base64url') : longEnough(resolveSecret(ref), ref);
  const grants = [{ role: 'admin', tenants: 'all' }] as const;
  return {
    access: { tokens: [{ by: byOf(who), token, grants }], oidc: undefined },
    token: ref === undefined ? token : undefined,
  };
}

function openToAll(host: string): ConnectorError {
  return rejected(
    'CONSOLE_OPEN',
    `Other machines can reach ${host}, so one token for everything is not enough. Say who may ` +
      'sign in with --access FILE: docs/console.md shows one.',
  );
}
