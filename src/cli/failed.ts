import type { Command } from 'commander';
import { readFailed, retryFailed } from '../operator/failed.ts';
import { AS, byOf, EXIT, example, placesOf, printJson, renderTable, say } from './command.ts';
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
  if (failed.length === 0) return void process.stdout.write(`Nothing of ${tenantId} failed.\n`);
  const rows = failed.map(({ where, what, since, reason }) => [where, what, since, reason.slice(0, MOST_TEXT)]);
  const table = renderTable(['where', 'what', 'since', 'reason'], rows);
  process.stdout.write(`${table}\n\nOnce the cause is removed: hirebridge retry ${tenantId}\n`);
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
