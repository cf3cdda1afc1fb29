import type { Command } from 'commander';
import type { MappingDiff } from '../operator/mappings/diff-mapping.ts';
import { EXIT } from './exit-codes.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print-json.ts';
import { renderChange } from './render-plan.ts';
import { renderTable } from './table.ts';
import { withStoreAsItIs } from './with-store.ts';

export function addMappingDiff(mapping: Command): void {
  mapping
    .command('diff')
    .description(
      'Show which records a new mapping file would change, and how, before it is live: a count a field, and samples. ' +
        'Fields that a mapping calls sensitive are masked. Reads the partner; writes nothing. ' +
        'Exit code 2: some differ.',
    )
    .argument('<tenant>', 'tenant whose mapping would change')
    .argument('<file>', 'the new mapping file')
    .option('--stream <stream>', 'the file maps this stream (jobs, candidates, employees), not the employee of a hire')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      example('hirebridge mapping diff acme new.yaml', 'hirebridge mapping diff acme new.yaml --stream candidates'),
    )
    .action(runDiff);
}

interface DiffOptions {
  stream?: string;
  json?: boolean;
}

async function runDiff(tenantId: string, file: string, { stream, json }: DiffOptions, command: Command): Promise<void> {
  const places = await placesOf(command);
  const [{ withTenant }, { diffMapping, mappingNamed, maskDiff }] = await Promise.all([
    import('../operator/open-tenant.ts'),
    import('../operator/mappings/diff-mapping.ts'),
  ]);
  const diff = await withStoreAsItIs(places, (store) =>
    withTenant({ store, places, tenantId }, (open) => diffMapping(open, mappingNamed(stream), file)),
  );
  const shown = maskDiff(diff);
  if (json === true) printJson(shown);
  else process.stdout.write(render(shown));
  if (diff.changed > 0) process.exitCode = EXIT.refused;
}

function render({ subject, from, to, compared, changed, fields }: MappingDiff): string {
  const head = `${subject}: mapping ${from} -> ${to}: ${changed} of ${compared} records would change\n`;
  const rows = fields.flatMap(({ field, count, broken, samples }) =>
    samples.map((sample, at) => [
      ...(at === 0 ? [field, String(count), String(broken)] : ['', '', '']),
      sample.record,
      renderChange(sample),
    ]),
  );
  if (rows.length === 0) return head;
  return `${head}\n${renderTable(['field', 'records', 'without a value', 'for example', 'change'], rows)}\n`;
}
