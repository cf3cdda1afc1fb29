import type { Command } from 'commander';
import { freezeWrites, thawWrites } from '../operator/tenants.ts';
import { withStore, withTables } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';
import { say } from './print.ts';

interface FreezeOptions {
  json?: boolean;
  as?: string;
}

export function defineFreeze(command: Command): void {
  whose(command)
    .description(
      'Stop the very next write to hiring platform and HR system, of every tenant or of one; reads and webhooks go ' +
        'on. Needs no Temporal.',
    )
    .addHelpText('after', example('hirebridge freeze', 'hirebridge freeze acme'))
    .action(runFreeze);
}

export function defineThaw(command: Command): void {
  whose(command)
    .description('Let the writes go on that `freeze` stopped.')
    .addHelpText('after', example('hirebridge thaw', 'hirebridge thaw acme'))
    .action(runThaw);
}

function whose(command: Command): Command {
  return asOption(command.argument('[tenant]', 'one tenant; every tenant by default').option('--json', 'print JSON'));
}

async function runFreeze(tenantId: string | undefined, options: FreezeOptions, command: Command): Promise<void> {
  const act = { by: byOf(options), ...(tenantId === undefined ? {} : { tenantId }) };
  const done = await withTables(await placesOf(command), (tables) => freezeWrites(tables, act));
  const thaw = ['hirebridge thaw', ...(tenantId === undefined ? [] : [tenantId])].join(' ');
  const text = done
    ? `${nameOf(tenantId)} frozen by ${act.by}: nothing is written. To let it go on: ${thaw}\n`
    : `${nameOf(tenantId)} frozen already; see: hirebridge status\n`;
  say(options, { frozen: tenantId ?? 'every tenant', changed: done }, text);
}

async function runThaw(tenantId: string | undefined, options: FreezeOptions, command: Command): Promise<void> {
  const act = { by: byOf(options), ...(tenantId === undefined ? {} : { tenantId }) };
  const done = await withStore(await placesOf(command), (store) => thawWrites(store, act), { mustExist: true });
  const text = done
    ? `${nameOf(tenantId)} thawed by ${act.by}: writes go on within seconds.\n`
    : `${nameOf(tenantId)} not frozen.\n`;
  say(options, { thawed: tenantId ?? 'every tenant', changed: done }, text);
}

function nameOf(tenantId: string | undefined): string {
  return tenantId === undefined ? 'Every tenant is' : `${tenantId} is`;
}
