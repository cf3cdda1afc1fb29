import type { Command } from 'commander';
import type { FreezeAct } from '../operator/tenants.ts';
import { freezeWrites, thawWrites } from '../operator/tenants.ts';
import { withStore, withTables } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';

interface FreezeOptions {
  all?: boolean;
  as?: string;
}

export function defineFreeze(command: Command): void {
  whose(command)
    .description('Stop every write to partner and HR system at once; reads and webhooks go on. Needs no Temporal.')
    .addHelpText('after', example('hirebridge freeze acme', 'hirebridge freeze --all'))
    .action(runFreeze);
}

export function defineThaw(command: Command): void {
  whose(command)
    .description('Let the writes that `freeze` stopped go on.')
    .addHelpText('after', example('hirebridge thaw acme', 'hirebridge thaw --all'))
    .action(runThaw);
}

function whose(command: Command): Command {
  command.argument('[tenant]', 'one tenant; the fleet with --all');
  return asOption(command.option('--all', 'the whole fleet'));
}

async function runFreeze(tenantId: string | undefined, options: FreezeOptions, command: Command): Promise<void> {
  const act = actOf(tenantId, options, command);
  const done = await withTables(await placesOf(command), (tables) => freezeWrites(tables, act));
  const whose = nameOf(act);
  process.stdout.write(
    done
      ? `${whose} frozen by ${act.by}: nothing is written. To let it go on: hirebridge thaw ${tenantId ?? '--all'}\n`
      : `${whose} frozen already; see: hirebridge status\n`,
  );
}

async function runThaw(tenantId: string | undefined, options: FreezeOptions, command: Command): Promise<void> {
  const act = actOf(tenantId, options, command);
  const done = await withStore(await placesOf(command), (store) => thawWrites(store, act), { mustExist: true });
  process.stdout.write(
    done ? `${nameOf(act)} thawed by ${act.by}: writes go on within seconds.\n` : `${nameOf(act)} not frozen.\n`,
  );
}

/** The fleet is named in so many words: a forgotten tenant must not stop everybody. */
function actOf(tenantId: string | undefined, { all, ...who }: FreezeOptions, command: Command): FreezeAct {
  if ((tenantId === undefined) !== (all === true)) command.error('error: name one tenant, or give --all');
  return { by: byOf(who), ...(tenantId === undefined ? {} : { tenantId }) };
}

function nameOf({ tenantId }: FreezeAct): string {
  return tenantId === undefined ? 'Every tenant is' : `${tenantId} is`;
}
