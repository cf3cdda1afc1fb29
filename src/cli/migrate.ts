import type { Command } from 'commander';
import { storeUrl } from '../config.ts';
import { migrateStore, type PendingMigration } from '../store/migrate.ts';
import { example, placesOf } from './options.ts';
import { say } from './print.ts';

interface MigrateOptions {
  dryRun?: boolean;
  worker?: string;
  receiver?: string;
  json?: boolean;
}

export function defineMigrate(command: Command): void {
  command
    .description(
      "Bring the store's tables up to date and end. Needed only where the roles of `worker` and `serve` may not " +
        'change tables: they wait for it when they start. Webhooks are accepted meanwhile.',
    )
    .option('--dry-run', 'show what would change, and whether the previous version can still start afterwards')
    .option('--worker <role>', 'Postgres role that gets the rights of a worker: every row, no table')
    .option('--receiver <role>', 'Postgres role that gets the rights of `serve`: to store webhooks')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('HIREBRIDGE_STORE_URL=$OWNER_URL hirebridge migrate --worker hb_worker --receiver hb_serve'),
    )
    .action(runMigrate);
}

async function runMigrate({ dryRun = false, json, ...roles }: MigrateOptions, command: Command): Promise<void> {
  const { dataDir } = await placesOf(command);
  const pending = await migrateStore(storeUrl(dataDir), roles, dryRun);
  say({ json }, { [dryRun ? 'pending' : 'migrated']: pending }, `${textOf(pending, dryRun)}\n`);
}

function textOf(pending: readonly PendingMigration[], isDry: boolean): string {
  if (pending.length === 0) return 'The tables of the store are up to date.';
  const narrowing = pending.filter(({ isWidening }) => !isWidening).map(({ name }) => name);
  const names = pending.map(({ name }) => `  ${name}`).join('\n');
  const back =
    narrowing.length === 0
      ? 'The previous version can be started again on these tables.'
      : `Processes of the previous version cannot be started any more afterwards (${narrowing.join(', ')}). To go ` +
        'back you would need a backup from before.';
  return `${isDry ? 'To be run:' : 'Run:'}\n${names}\n${back}`;
}
