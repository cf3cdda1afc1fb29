import type { Command } from 'commander';
import { wrap } from '../operator/reference.ts';
import { OTHER_PLACES, renderDataMap, STORE_PLACES } from '../store/data-map.ts';
import { example } from './options.ts';
import { printJson } from './print.ts';

export function definePerson(command: Command): void {
  command.description('Show what is kept of people, and where.');
  command
    .command('map')
    .description(
      'Print every place that can hold something of a person: what of them, why, and for how long. It is the table ' +
        'in docs/privacy.md.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge person map'))
    .action(({ json }: { json?: boolean }) => {
      if (json === true) return printJson({ store: STORE_PLACES, elsewhere: OTHER_PLACES });
      process.stdout.write(`${renderDataMap().split('\n').map(wrap).join('\n')}\n`);
    });
}
