import { type Command, Option } from 'commander';
import type { DeliveryView } from '../operator/deliveries/retry-deliveries.ts';
import { example, placesOf } from './options.ts';
import { printJson } from './print-json.ts';
import { listedFilter, renderListed } from './table.ts';
import { byOf } from './tenant/by.ts';
import { withStore } from './with-store.ts';

const STATES = ['undeliverable', 'other-company', 'unknown', 'waiting', 'relayed', 'ignored'] as const;

export function addInbox(program: Command): void {
  const inbox = program.command('inbox').description('List webhook deliveries, and relay again what was left.');
  inbox
    .command('list')
    .description('List what nothing acts upon: undeliverable, of another company, or of an unknown event.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .addOption(new Option('--state <state>', 'those in this state instead').choices(STATES))
    .option('--json', 'print JSON, without a limit')
    .addHelpText('after', example('hirebridge inbox list', 'hirebridge inbox list --state waiting --tenant acme'))
    .action(runList);
  inbox
    .command('retry')
    .description('Relay one delivery again, or with --all every undeliverable one.')
    .argument('[delivery]', 'id of the delivery, as `inbox list` shows it')
    .option('--all', 'every undeliverable delivery')
    .option('--tenant <tenant>', 'only those of one tenant')
    .option('--as <name>', 'who does it; by default the user of this system')
    .addHelpText('after', example('hirebridge inbox retry 3f6a0c19be42', 'hirebridge inbox retry --all --tenant acme'))
    .action(runRetry);
}

interface ListOptions {
  tenant?: string;
  state?: (typeof STATES)[number];
  json?: boolean;
}

async function runList(options: ListOptions, command: Command): Promise<void> {
  const { state, json } = options;
  const [{ listDeliveries }, { leftStates }] = await Promise.all([
    import('../operator/deliveries/retry-deliveries.ts'),
    import('../store/inbox-tables.ts'),
  ]);
  const filter = {
    states: state === undefined ? leftStates : [state],
    ...listedFilter(options),
  };
  const found = await withStore(await placesOf(command), (store) => listDeliveries(store, filter), {
    mustExist: true,
    tenantId: options.tenant,
  });
  if (json === true) return printJson(found);
  process.stdout.write(renderDeliveries(found));
}

function renderDeliveries(found: readonly DeliveryView[]): string {
  if (found.length === 0) return 'No deliveries.\n';
  const rows = found.map((one) => [
    one.delivery,
    one.tenantId,
    one.receivedAt,
    one.event.slice(0, 60),
    one.state,
    one.lastError ?? '-',
  ]);
  return renderListed(['delivery', 'tenant', 'received', 'event', 'state', 'last error'], rows);
}

async function runRetry(
  delivery: string | undefined,
  options: { all?: boolean; tenant?: string; as?: string },
  command: Command,
): Promise<void> {
  if ((delivery === undefined) === (options.all !== true)) command.error('error: name one delivery, or write --all');
  const { retryDeliveries } = await import('../operator/deliveries/retry-deliveries.ts');
  const request = {
    by: byOf(options),
    ...(delivery === undefined ? {} : { delivery }),
    ...(options.tenant === undefined ? {} : { tenantId: options.tenant }),
  };
  const count = await withStore(await placesOf(command), (store) => retryDeliveries(store, request), {
    mustExist: true,
    tenantId: options.tenant,
  });
  process.stdout.write(`${count} given to the relay again. Follow with: hirebridge inbox list\n`);
}
