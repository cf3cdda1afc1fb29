import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { addKey } from '../vault/keys.ts';
import { example } from './options.ts';
import { say } from './print.ts';

interface Flags {
  json?: boolean;
}

export function defineKeys(command: Command): void {
  command.description('Make the keys of HIREBRIDGE_KEYS.');
  command
    .command('new')
    .description('Add a key at the end of the file of HIREBRIDGE_KEYS, and make the file where there is none.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('HIREBRIDGE_KEYS=file:/etc/hirebridge/keys hirebridge keys new'))
    .action(runNew);
}

function runNew(options: Flags): void {
  const { file, keyId, isFirst } = addKey(readConfig().HIREBRIDGE_KEYS, new Date().toISOString().slice(0, 10));
  const next = isFirst
    ? 'It encrypts once every process has the file. Keep a copy of it, and not beside the backups.'
    : 'It decrypts as soon as a process has the file; it encrypts once its line is the first. ' +
      'Move it there when every process has it.';
  say(options, { key: keyId, file }, `Added key ${keyId} to ${file}. ${next}\n`);
}
