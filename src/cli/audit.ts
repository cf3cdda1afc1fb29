import type { Command } from 'commander';
import type { WriteView } from '../operator/writes.ts';
import { readWrites } from '../operator/writes.ts';
import { audit } from '../store/audit.ts';
import { withStore } from './open.ts';
import { asOption, byOf, example, placesOf } from './options.ts';
import { listedFilter, printJson, renderChange, renderListed } from './print.ts';

export function defineAudit(command: Command): void {
  command
    .description(
      'List every write at the partner and in the HR system with old and new value, latest first. Fields that the ' +
        'mapping calls sensitive are masked.',
    )
    .argument('<tenant>', 'tenant whose writes to list')
    .option('--mapping <version>', 'only those of one mapping version')
    .option('--record <id>', 'only those of one record: a job candidate, job or candidate')
    .option('--run <run>', 'only those of one run of a stream, or of one applied plan')
    .option('--reveal', 'show sensitive values too; who did is written down')
    .option('--json', 'print JSON');
  asOption(command)
    .addHelpText('after', example('hirebridge audit acme --record 5012', 'hirebridge audit acme --mapping 9c1d2e3f'))
    .action(runAudit);
}

interface AuditOptions {
  mapping?: string;
  record?: string;
  run?: string;
  reveal?: boolean;
  json?: boolean;
  as?: string;
}

async function runAudit(tenantId: string, options: AuditOptions, command: Command): Promise<void> {
  const { mapping, record, run, reveal = false } = options;
  const filter = {
    ...listedFilter({ tenant: tenantId, ...(options.json === undefined ? {} : { json: options.json }) }),
    tenantId,
    ...(mapping === undefined ? {} : { mapping }),
    ...(record === undefined ? {} : { recordId: record }),
    ...(run === undefined ? {} : { runId: run }),
  };
  const writes = await withStore(
    await placesOf(command),
    async (store) => {
      if (reveal)
        await audit(store, { by: byOf(options), tenantId, act: 'revealed', details: `audit ${record ?? ''}` });
      return readWrites(store, filter, reveal);
    },
    { mustExist: true, tenantId },
  );
  if (options.json === true) return printJson(writes);
  process.stdout.write(writes.length === 0 ? 'No writes.\n' : render(writes));
}

function render(writes: readonly WriteView[]): string {
  const rows = writes.map(({ at, by, run, record, target, kind, outcome, verifiedAt, mapping, ...write }) => [
    at.slice(0, 19).replace('T', ' '),
    record,
    `${kind} ${target}`,
    renderFields(write),
    outcome === 'done' && verifiedAt !== null ? 'read back' : outcome,
    mapping ?? '',
    `${by} (${run.slice(0, 12)})`,
  ]);
  return renderListed(['when', 'record', 'write', 'fields', 'outcome', 'mapping', 'by (run)'], rows);
}

function renderFields({ fields, changes, purgedAt }: Pick<WriteView, 'fields' | 'changes' | 'purgedAt'>): string {
  if (purgedAt !== null) return `${fields.join(', ')} (values purged ${purgedAt.slice(0, 10)})`;
  return Object.entries(changes)
    .map(([field, change]) => `${field}: ${renderChange(change)}`)
    .join('\n');
}
