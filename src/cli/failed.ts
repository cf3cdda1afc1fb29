import type { Command } from 'commander';
import { type ConflictView, readConflicts, readFailed, retryFailed } from '../operator/failed.ts';
import { noteLook } from '../store/audit.ts';
import {
  AS,
  byOf,
  EXIT,
  example,
  listedFilter,
  placesOf,
  print,
  printJson,
  renderListed,
  renderTable,
  say,
} from './command.ts';
import { withClient, withStore } from './open.ts';

/** Longest reason in the table; --json has full reasons. */
const MOST_TEXT = 100;

export function defineFailed(command: Command): void {
  command
    .description(
      'List what failed: streams that stand still, records left out, deliveries given up. Exit code 3: the list ' +
        'is not empty.',
    )
    .argument('<tenant>', 'tenant to look at')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge failed acme'))
    .action(runFailed);
}

export function defineRetry(command: Command): void {
  command
    .description('Read again the records that were left out, and relay again the deliveries that were given up.')
    .argument('<tenant>', 'tenant whose failures to retry')
    .argument('[stream]', 'only the records of one stream')
    .argument('[record]', 'only this record, as hirebridge failed names it')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText(
      'after',
      example(
        'hirebridge retry acme',
        'hirebridge retry acme candidates',
        'hirebridge retry acme documents 600013/resume',
      ),
    )
    .action(runRetry);
}

async function runFailed(tenantId: string, options: { json?: boolean }, command: Command): Promise<void> {
  const failed = await withStore(await placesOf(command), (store) => readFailed(store, tenantId), {
    mustExist: true,
    tenantId,
  });
  process.exitCode = failed.length > 0 ? EXIT.partial : EXIT.done;
  if (options.json === true) return printJson(failed);
  if (failed.length === 0) return print(`Nothing of ${tenantId} failed.\n`);
  const rows = failed.map(({ where, what, since, reason }) => [where, what, since, reason.slice(0, MOST_TEXT)]);
  const table = renderTable(['where', 'what', 'since', 'reason'], rows);
  print(`${table}\n\nOnce the cause is removed: hirebridge retry ${tenantId}\n`);
}

async function runRetry(
  tenantId: string,
  stream: string | undefined,
  record: string | undefined,
  options: { json?: boolean; as?: string },
  command: Command,
): Promise<void> {
  const places = await placesOf(command);
  const { records, deliveries } = await withClient(
    places,
    (parts) => retryFailed(parts, { tenantId, stream, record, by: byOf(options) }),
    tenantId,
  );
  const parts = Object.entries(records).map(([name, count]) => `${count} of ${name} are read again`);
  if (deliveries > 0) parts.push(`${deliveries} deliveries are relayed again`);
  const what = parts.length === 0 ? 'Nothing to retry' : parts.join(', ');
  say(options, { records, deliveries }, `${what}. What is left: hirebridge failed ${tenantId}\n`);
}

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
  print(found.length === 0 ? 'No conflicts.\n' : renderConflicts(found));
}

function renderConflicts(found: readonly ConflictView[]): string {
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
