import type { Command } from 'commander';
import { type ConflictView, readConflicts, readFailed, retryFailed } from '../operator/failed.ts';
import type { OperatorParts } from '../operator/open-tenant.ts';
import { noteLook } from '../store/audit.ts';
import type { Store } from '../store/open-store.ts';
import {
  AS,
  byOf,
  EXIT,
  example,
  type Flags,
  limitOf,
  placesOf,
  renderListed,
  renderTable,
  say,
  wrap,
} from './command.ts';
import { withClient, withStore } from './open.ts';

/** Longest reason in the table; --json has full reasons. */
const MOST_TEXT = 100;

export const commands = { conflicts: defineConflicts, failed: defineFailed, retry: defineRetry };

function defineFailed(command: Command): void {
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

function defineRetry(command: Command): void {
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

async function runFailed(tenantId: string, options: Flags, command: Command): Promise<void> {
  const failed = await withStore(command, (store) => readFailed(store, tenantId), tenantId);
  process.exitCode = failed.length > 0 ? EXIT.partial : EXIT.done;
  say(options, failed, () => {
    if (failed.length === 0) return `Nothing of ${tenantId} failed.\n`;
    const rows = failed.map(({ where, what, since, reason }) => [where, what, since, reason.slice(0, MOST_TEXT)]);
    const table = renderTable(['where', 'what', 'since', 'reason'], rows);
    return `${table}\n\nOnce the cause is removed: hirebridge retry ${tenantId}\n`;
  });
}

async function runRetry(
  tenantId: string,
  stream: string | undefined,
  record: string | undefined,
  options: Flags,
  command: Command,
): Promise<void> {
  const request = { tenantId, stream, record, by: byOf(options) };
  const retry = (parts: OperatorParts) => retryFailed(parts, request);
  const { records, deliveries } = await withClient(await placesOf(command), retry, tenantId);
  const parts = Object.entries(records).map(([name, count]) => `${count} of ${name} are read again`);
  if (deliveries > 0) parts.push(`${deliveries} deliveries are relayed again`);
  const what = parts.length === 0 ? 'Nothing to retry' : parts.join(', ');
  say(options, { records, deliveries }, `${what}. What is left: hirebridge failed ${tenantId}\n`);
}

function defineConflicts(command: Command): void {
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

async function runConflicts(tenantId: string, options: Flags & { all?: boolean }, command: Command): Promise<void> {
  const filter = { tenantId, all: options.all === true, limit: limitOf(options) };
  const look = async (store: Store): Promise<ConflictView[]> => {
    await noteLook(store, { by: byOf({}), tenantId, what: 'values where both sides differ' });
    return readConflicts(store, filter);
  };
  const found = await withStore(command, look, tenantId);
  say(options, found, found.length === 0 ? 'No conflicts.\n' : renderConflicts(found));
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
  const words = new Set(found.flatMap(({ code, why }) => (why === null ? [] : [`${wrap(`${code}: ${why}`)}\n`])));
  const table = renderListed(['id', 'since', 'record', 'field', 'partner', 'HR system', 'state'], rows);
  return [table, ...(words.size > 0 ? ['\n'] : []), ...words].join('');
}
