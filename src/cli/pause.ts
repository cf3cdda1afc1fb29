import type { Command } from 'commander';
import { type Places, storeFile, storeUrl } from '../config.ts';
import { isConnectorError } from '../errors.ts';
import { steerStream } from '../operator/streams.ts';
import { freezeWrites, steerTenant, thawWrites } from '../operator/tenants.ts';
import { openTables, type StoreTables } from '../store/open-store.ts';
import { AS, byOf, example, type Flags, placesOf, say } from './command.ts';
import { assertExists, withOpened, withStore } from './open.ts';

export const commands = { pause: definePause, resume: defineResume, freeze: defineFreeze, thaw: defineThaw };

function definePause(command: Command): void {
  which(command)
    .description(
      'Stop all work of a tenant, or one stream of it. Webhooks are still stored, and the hints of a stream wait. ' +
        'Needs no Temporal.',
    )
    .addHelpText('after', example('hirebridge pause acme', 'hirebridge pause acme candidates'))
    .action(runPause);
}

function defineResume(command: Command): void {
  which(command)
    .description(
      'Resume a paused tenant or stream. A stream that a change limit holds may make the held changes in its ' +
        'next pass. Needs no Temporal.',
    )
    .addHelpText('after', example('hirebridge resume acme', 'hirebridge resume acme candidates'))
    .action(runResume);
}

function which(command: Command): Command {
  return command
    .argument('<tenant>', 'tenant to pause or resume')
    .argument('[stream]', 'one stream of it; hires and other streams continue')
    .option('--json', 'print JSON')
    .option(...AS);
}

type Arguments = [tenant: string, stream: string | undefined, options: Flags, Command];

async function runPause(...args: Arguments): Promise<void> {
  const name = await steer('pause', args);
  const what = args[1] === undefined ? 'its work waits, its webhooks are stored' : 'hires and other streams continue';
  say(args[2], { paused: name }, `${name} is paused: ${what}. To resume it: hirebridge resume ${name}\n`);
}

async function runResume(...args: Arguments): Promise<void> {
  const name = await steer('resume', args);
  const next = args[1] === undefined ? '' : ` To run it now: hirebridge sync ${name}`;
  say(args[2], { resumed: name }, `${name} resumes within seconds.${next}\n`);
}

async function steer(verb: 'pause' | 'resume', [tenantId, stream, options, command]: Arguments): Promise<string> {
  const act = { tenantId, by: byOf(options) };
  await withStore(command, (store) =>
    stream === undefined ? steerTenant(store, verb, act) : steerStream(store, verb, { ...act, stream }),
  );
  return stream === undefined ? tenantId : `${tenantId} ${stream}`;
}

function defineFreeze(command: Command): void {
  whose(command)
    .description(
      'Stop all writes to the hiring platform and the HR system at once, of every tenant or of one; reads and ' +
        'webhooks continue. Needs no Temporal.',
    )
    .addHelpText('after', example('hirebridge freeze', 'hirebridge freeze acme'))
    .action(runFreeze);
}

function defineThaw(command: Command): void {
  whose(command)
    .description('Allow the writes again that `freeze` stopped.')
    .addHelpText('after', example('hirebridge thaw', 'hirebridge thaw acme'))
    .action(runThaw);
}

function whose(command: Command): Command {
  return command
    .argument('[tenant]', 'one tenant; every tenant by default')
    .option('--json', 'print JSON')
    .option(...AS);
}

async function runFreeze(tenantId: string | undefined, options: Flags, command: Command): Promise<void> {
  const act = { by: byOf(options), tenantId };
  const done = await withTables(await placesOf(command), (tables) => freezeWrites(tables, act));
  const thaw = ['hirebridge thaw', ...(tenantId === undefined ? [] : [tenantId])].join(' ');
  const text = done
    ? `${nameOf(tenantId)} frozen by ${act.by}: nothing is written. To allow writes again: ${thaw}\n`
    : `${nameOf(tenantId)} frozen already; see: hirebridge status\n`;
  say(options, { frozen: tenantId ?? 'every tenant', changed: done }, text);
}

/**
 * For commands that must work while any table is locked: reads nothing of the store beforehand. Opens the store
 * normally only after a failure, to report the reason.
 * @throws ConnectorError STORE_MISSING, STORE_TOO_OLD
 */
async function withTables<T>(places: Places, use: (tables: StoreTables) => Promise<T>): Promise<T> {
  assertExists(storeFile(places.dataDir));
  const tables = openTables(storeUrl(places.dataDir));
  try {
    return await use(tables);
  } catch (error) {
    if (!isConnectorError(error)) await withOpened(places, 'never', async () => undefined);
    throw error;
  } finally {
    await tables.close();
  }
}

async function runThaw(tenantId: string | undefined, options: Flags, command: Command): Promise<void> {
  const act = { by: byOf(options), tenantId };
  const done = await withStore(command, (store) => thawWrites(store, act));
  const text = done
    ? `${nameOf(tenantId)} thawed by ${act.by}: writes continue within seconds.\n`
    : `${nameOf(tenantId)} not frozen.\n`;
  say(options, { thawed: tenantId ?? 'every tenant', changed: done }, text);
}

function nameOf(tenantId: string | undefined): string {
  return tenantId === undefined ? 'Every tenant is' : `${tenantId} is`;
}
