import type { Command } from 'commander';
import type { ConflictView } from '../operator/conflicts.ts';
import { readConflicts } from '../operator/conflicts.ts';
import { noteLook } from '../store/audit.ts';
import { byOf, example, listedFilter, placesOf, printJson, renderListed } from './command.ts';
import { withStore } from './open.ts';

export function defineConflicts(command: Command): void {
  command
    .description(
      'List fields where the hiring platform and the HR system differed, latest first: those that wait for a person, ' +
        'are reported or cannot be written, with --all also those that were decided. Sensitive values are masked.',
    )
    .argument('<tenant>', 'tenant whose conflicts to list')
    .option('--all', 'closed ones too: what was put back, and which side was kept')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge conflicts acme', 'hirebridge hold answer 5c0ffee1 keep-hris'))
    .action(runConflicts);
}

interface ConflictOptions {
  all?: boolean;
  json?: boolean;
}

async function runConflicts(tenantId: string, options: ConflictOptions, command: Command): Promise<void> {
  const { all = false, json = false } = options;
  const filter = { ...listedFilter({ tenant: tenantId, json }), tenantId, all };
  const found = await withStore(
    await placesOf(command),
    async (store) => {
      await noteLook(store, { by: byOf({}), tenantId, what: 'values where both sides differ' });
      return readConflicts(store, filter);
    },
    { mustExist: true, tenantId },
  );
  if (json) return printJson(found);
  process.stdout.write(found.length === 0 ? 'No conflicts.\n' : render(found));
}

function render(found: readonly ConflictView[]): string {
  const rows = found.map(({ id, since, stream, record, field, partner, hris, ...one }) => [
    id,
    since.slice(0, 19).replace('T', ' '),
    `${stream} ${record}`,
    field,
    partner ?? '(purged)',
    hris ?? '(purged)',
    [one.kind, one.code, one.kept === null ? null : `${one.kept} stays`].filter((part) => part !== null).join(', '),
  ]);
  return renderListed(['id', 'since', 'record', 'field', 'partner', 'HR system', 'state'], rows);
}
