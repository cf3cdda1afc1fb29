import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { ConnectorError } from '../errors.ts';
import { audit } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import { addDataKey, listDataKeys, type Sealing } from '../store/sealed-values.ts';
import { addKey } from '../vault/keys.ts';
import { asOption, byOf, example, placesOf, print, printJson, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

interface Flags {
  json?: boolean;
  as?: string;
}

export function defineKeys(command: Command): void {
  command.description("Make the keys of HIREBRIDGE_KEYS, and replace those of tenants' values.");
  command
    .command('new')
    .description('Add a key at the end of the file of HIREBRIDGE_KEYS, and create the file if there is none.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('HIREBRIDGE_KEYS=file:/etc/hirebridge/keys hirebridge keys new'))
    .action(runNew);
  command
    .command('status')
    .description(
      'List the data keys of tenants: which key of HIREBRIDGE_KEYS encrypts each, and whether the latest ' +
        "encrypts all of a tenant's values.",
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge keys status'))
    .action(runStatus);
  asOption(command.command('rotate').argument('<tenant>', 'tenant whose values get another key'))
    .description('Make a new data key for a tenant; a worker encrypts its values again while everything keeps running.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge keys rotate acme'))
    .action(runRotate);
}

function runNew(options: Flags): void {
  const { file, keyId, isFirst } = addKey(readConfig().HIREBRIDGE_KEYS, new Date().toISOString().slice(0, 10));
  const next = isFirst
    ? 'It encrypts once every process has the file. Keep a copy of it, but not beside the backups.'
    : 'It decrypts as soon as a process has the file; it encrypts once its line is the first. ' +
      'Move it there when every process has it.';
  say(options, { key: keyId, file }, `Added key ${keyId} to ${file}. ${next}\n`);
}

async function runStatus(options: Flags, command: Command): Promise<void> {
  const list = async (store: Store) => listDataKeys(sealingIn(store));
  const listed = await withStore(await placesOf(command), list, { mustExist: true });
  const keys = listed.map((one) => ({
    tenant: one.tenant_id,
    dataKey: one.key_id,
    madeAt: new Date(Number(one.made_at)).toISOString(),
    under: one.master_key,
    sweptAt: one.swept_at === null ? null : new Date(Number(one.swept_at)).toISOString(),
  }));
  if (options.json === true) return printJson(keys);
  if (keys.length === 0) return print('No tenant has a data key yet: a worker makes them.\n');
  const rows = keys.map((one) => [one.tenant, one.dataKey, one.madeAt, one.under, one.sweptAt ?? 'not yet']);
  print(renderListed(['tenant', 'data key', 'made', 'encrypted by', 'encrypts all values'], rows));
}

async function runRotate(tenantId: string, options: Flags, command: Command): Promise<void> {
  const rotate = async (store: Store): Promise<string> => {
    const { key_id: keyId } = await addDataKey(sealingIn(store), tenantId);
    await audit(store, { by: byOf(options), tenantId, act: 'key-rotated', details: keyId });
    return keyId;
  };
  const dataKey = await withStore(await placesOf(command), rotate, { mustExist: true, tenantId });
  const next = 'A worker encrypts the values with it; hirebridge keys status shows when that is done.';
  say(options, { tenant: tenantId, dataKey }, `${tenantId} has data key ${dataKey}. ${next}\n`);
}

function sealingIn({ sealing }: Store): Sealing {
  if (sealing !== undefined) return sealing;
  throw new ConnectorError({
    code: 'KEYS_INVALID',
    action: 'reject',
    message: 'HIREBRIDGE_KEYS is not set, and no value of a tenant is encrypted: set it to file:PATH.',
  });
}
