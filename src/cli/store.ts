import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { readConfig, storeFile, storeUrl } from '../config.ts';
import { type ConnectorError, rejected } from '../errors.ts';
import { noteHeadsRestored } from '../store/audit.ts';
import { backUp, eraseAgain, noteRestored, restore } from '../store/backups.ts';
import { listLostKeys } from '../store/data-keys.ts';
import { ERASURES_FILE, readErasures } from '../store/erase-restored.ts';
import { migrateStore, type PendingMigration } from '../store/migrate.ts';
import { openStore } from '../store/open-store.ts';
import { AS, byOf, example, type Flags, placesOf, say } from './command.ts';
import { assertExists } from './open.ts';
import { isConfirmed } from './prompt.ts';

export const commands = { migrate: defineMigrate, backup: defineBackup, restore: defineRestore };

function defineBackup(command: Command): void {
  command
    .argument('<file>', 'path of the copy; an existing file is not overwritten')
    .description(
      'Copy the store of this machine into a file, while everything keeps running. The file has personal data. Back ' +
        "up a store in Postgres with Postgres' own tools.",
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge backup /backups/hirebridge-$(date +%F).db'))
    .action(runBackup);
}

async function runBackup(target: string, options: Flags, command: Command): Promise<void> {
  const { dataDir } = await placesOf(command);
  const file = storeFile(dataDir);
  if (file === undefined) throw ownTools('pg_dump --format=custom');
  assertExists(file);
  await backUp(file, resolve(target));
  const keys = keysBeside(file);
  if (existsSync(keys))
    warn(`the copy does not hold the keys of encrypted values. Keep a copy of ${keys} and of the file of keys, apart.`);
  say(
    options,
    { backup: resolve(target) },
    `${resolve(target)}: the store as it is now. To put it back: hirebridge restore ${target}\n`,
  );
}

function defineRestore(command: Command): void {
  command
    .option(...AS)
    .argument('[file]', 'a copy that `hirebridge backup` made; leave it out if Postgres was restored by its own tools')
    .description(
      'Replace the store with a backup; the old store is kept beside it. hirebridge then looks for everything ' +
        'that the backup does not know. After you restore Postgres, run it before you start anything.',
    )
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge restore /backups/hirebridge-2026-11-24.db', 'hirebridge restore --yes'))
    .action(runRestore);
}

async function runRestore(
  backup: string | undefined,
  options: Flags & { yes?: boolean },
  command: Command,
): Promise<void> {
  const { dataDir } = await placesOf(command);
  const file = storeFile(dataDir);
  if (backup !== undefined && file === undefined) throw ownTools('pg_restore');
  if (backup === undefined && file !== undefined)
    throw rejected('BACKUP_MISSING', 'Name the file to restore, as hirebridge backup made it.');
  const question =
    file === undefined
      ? 'Was the store in Postgres restored, and is nothing running on it yet?'
      : `Replace ${file} with ${backup}?`;
  if (!(await isConfirmed(options, question))) return;
  const { kept, unread } =
    file === undefined
      ? await noteOnly(dataDir, byOf(options))
      : await putBack(file, backup, { by: byOf(options), dataDir });
  const lost = await listLostKeys(storeUrl(dataDir));
  if (lost.length > 0)
    warn(
      `values of ${[...new Set(lost.map(({ tenantId }) => tenantId))].join(', ')} in the backup cannot be read: ` +
        `their data keys are not in ${file === undefined ? 'the table data_keys' : keysBeside(file)}. Put them back ` +
        'from their copy before you start anything.',
    );
  if (unread > 0)
    warn(
      `the text of ${unread} ${unread === 1 ? 'question' : 'questions'} was deleted: no data key opens it, and it ` +
        'may name somebody who was erased. What each is about and its answers are there: hirebridge hold list',
    );
  const before = kept === undefined ? '' : `The old store is kept: ${kept}\n`;
  say(
    options,
    { restored: backup ?? 'postgres', ...(kept === undefined ? {} : { kept }) },
    `${before}The next reconcile of every tenant compares everything and looks for what the backup does not know.\n` +
      `Start hirebridge, and then run: ${styleText('bold', 'hirebridge doctor --after-restore')}\n`,
  );
}

async function putBack(file: string, backup: string | undefined, { by, dataDir }: { by: string; dataDir: string }) {
  const erased = await readErasures(join(dataDir, ERASURES_FILE));
  const restored = await restore(file, resolve(backup ?? ''), by, erased, readConfig().HIREBRIDGE_KEYS);
  const store = await openStore(storeUrl(dataDir));
  await noteHeadsRestored(store, dataDir).finally(() => store.close());
  return restored;
}

async function noteOnly(dataDir: string, by: string) {
  const url = storeUrl(dataDir);
  const store = await openStore(url);
  try {
    const erased = await readErasures(join(dataDir, ERASURES_FILE));
    const unread = await eraseAgain(store, url, erased, readConfig().HIREBRIDGE_KEYS);
    await noteRestored(store, by);
    await noteHeadsRestored(store, dataDir);
    return { kept: undefined, unread };
  } finally {
    await store.close();
  }
}

function keysBeside(file: string): string {
  return join(dirname(file), 'keys.db');
}

function warn(text: string): void {
  process.stderr.write(`${styleText('yellow', 'warning:', { stream: process.stderr })} ${text}\n`);
}

function ownTools(tool: string): ConnectorError {
  return rejected(
    'STORE_IN_POSTGRES',
    `The store is in Postgres (HIREBRIDGE_STORE_URL), which has tools of its own: ${tool}, or a snapshot with ` +
      'write-ahead log. After a restore run hirebridge restore without a file. See docs/backup.md.',
  );
}

interface MigrateOptions extends Flags {
  dryRun?: boolean;
  worker?: string;
  receiver?: string;
}

function defineMigrate(command: Command): void {
  command
    .description(
      "Bring the store's tables up to date and end. Needed only if the roles of `worker` and `serve` may not " +
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

async function runMigrate(options: MigrateOptions, command: Command): Promise<void> {
  const { dryRun = false } = options;
  const { dataDir } = await placesOf(command);
  const pending = await migrateStore(storeUrl(dataDir), options, dryRun);
  say(options, { [dryRun ? 'pending' : 'migrated']: pending }, `${textOf(pending, dryRun)}\n`);
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
  return `${isDry ? 'Migrations to run:' : 'Migrations run:'}\n${names}\n${back}`;
}
