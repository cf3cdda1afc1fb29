import type { Command } from 'commander';
import { example, placesOf } from './options.ts';
import { useEmbeddedTemporal } from './up/embedded-address.ts';

export function addSync(program: Command): void {
  program
    .command('sync')
    .description("Pull one stream into the HR system's landing table: unchanged records cost no write.")
    .argument('<tenant>', 'tenant of the stream')
    .argument('<stream>', 'what to pull, by its name in the tenant file: jobs, candidates, ...')
    .option('--full', 'start at the first page and write every row again, whatever its hash says')
    .option('--json', 'print the counts as JSON')
    .addHelpText(
      'after',
      '\nA worker must run (hirebridge up, or hirebridge worker). ' +
        'Exit code 3: records were left out, each with its reason.\n' +
        example('hirebridge sync acme candidates', 'hirebridge sync acme jobs --full'),
    )
    .action(runSync);
}

async function runSync(
  tenantId: string,
  stream: string,
  options: { full?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  const places = placesOf(command);
  await useEmbeddedTemporal(places.dataDir);
  const { followSync } = await import('./sync/follow-sync.ts');
  process.exitCode = await followSync({
    ...places,
    tenantId,
    stream,
    full: options.full === true,
    json: options.json === true,
  });
}
