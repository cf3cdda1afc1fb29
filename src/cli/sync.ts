import { type Command, Option } from 'commander';
import { example, placesOf } from './options.ts';
import type { SyncOptions } from './sync/follow-sync.ts';
import { byOf } from './tenant/by.ts';
import { useEmbeddedTemporal } from './up/embedded-address.ts';

export function addSync(program: Command): void {
  program
    .command('sync')
    .description(
      'Run one stream, or every one that the tenant file runs: what changed by its hints, and the whole list where ' +
        'that is due. Unchanged records cost no write.',
    )
    .argument('<tenant>', 'tenant of the stream')
    .argument('[stream]', 'what to run, by its name in the tenant file: jobs, candidates, ...')
    .option('--full', 'read the whole list and write what differs')
    .addOption(new Option('--one <id>', 'read a single record').conflicts(['full', 'rewrite']))
    .option('--rewrite', 'read the whole list and write every row again, whatever its hash says')
    .addOption(new Option('--dry-run', 'show what would be written, and write nothing').conflicts(['rewrite', 'one']))
    .option('--json', 'print the counts as JSON')
    .option('--as <name>', 'who does it; by default the user of this system')
    .addHelpText(
      'after',
      '\nA worker must run (hirebridge up, or hirebridge worker), but for --dry-run. ' +
        'Exit code 3: records were left out, each with its reason.\n' +
        example('hirebridge sync acme', 'hirebridge sync acme candidates --full', 'hirebridge sync acme jobs --one 17'),
    )
    .action(runSync);
}

interface Flags {
  full?: boolean;
  one?: string;
  rewrite?: boolean;
  dryRun?: boolean;
  as?: string;
  json?: boolean;
}

async function runSync(tenantId: string, stream: string | undefined, flags: Flags, command: Command): Promise<void> {
  const places = await placesOf(command);
  if (flags.one !== undefined && stream === undefined) command.error('error: --one needs the name of its stream');
  if (flags.dryRun === true) {
    const { showSync } = await import('./sync/show-sync.ts');
    return showSync(places, { tenantId, stream, json: flags.json === true });
  }
  await useEmbeddedTemporal(places.dataDir);
  const { followSync } = await import('./sync/follow-sync.ts');
  const options = { ...places, tenantId, stream, ...readingOf(flags), by: byOf(flags), json: flags.json === true };
  process.exitCode = await followSync(options);
}

function readingOf({ full = false, one, rewrite = false }: Flags): Pick<SyncOptions, 'mode' | 'rewrite' | 'recordId'> {
  if (one !== undefined) return { mode: 'one', rewrite: false, recordId: one };
  return { mode: full || rewrite ? 'full' : 'incremental', rewrite };
}
