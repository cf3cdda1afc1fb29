import { type Command, Option } from 'commander';
import { duration } from '../hris/option-types.ts';
import { type DeliveryView, listDeliveries, replayDeliveries, retryDeliveries } from '../operator/deliveries.ts';
import { leftStates } from '../store/schema.ts';
import { AS, byOf, example, listedFilter, placesOf, print, printJson, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

const STATES = ['undeliverable', 'other-company', 'unknown', 'waiting', 'relayed', 'ignored'] as const;

export function defineInbox(command: Command): void {
  command.description('List webhook deliveries, and relay failed ones again.');
  command
    .command('list')
    .description('List deliveries without effect: undeliverable, of another company, or of an unknown event.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .addOption(new Option('--state <state>', 'those in this state instead').choices(STATES))
    .option('--json', 'print JSON, without a limit')
    .addHelpText('after', example('hirebridge inbox list', 'hirebridge inbox list --state waiting --tenant acme'))
    .action(runList);
  command
    .command('retry')
    .description('Relay one delivery again, or with --all every undeliverable one.')
    .argument('[delivery]', 'id of the delivery, as `inbox list` shows it')
    .option('--all', 'every undeliverable delivery')
    .option('--tenant <tenant>', 'only those of one tenant')
    .option('--json', 'print JSON')
    .option(...AS)
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
  const filter = {
    states: state === undefined ? leftStates : [state],
    ...listedFilter(options),
  };
  const found = await withStore(await placesOf(command), (store) => listDeliveries(store, filter), {
    mustExist: true,
    tenantId: options.tenant,
  });
  if (json === true) return printJson(found);
  print(renderDeliveries(found));
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
  options: { all?: boolean; tenant?: string; json?: boolean; as?: string },
  command: Command,
): Promise<void> {
  if ((delivery === undefined) === (options.all !== true)) command.error('error: name one delivery, or write --all');

  const request = {
    by: byOf(options),
    ...(delivery === undefined ? {} : { delivery }),
    ...(options.tenant === undefined ? {} : { tenantId: options.tenant }),
  };
  const count = await withStore(await placesOf(command), (store) => retryDeliveries(store, request), {
    mustExist: true,
    tenantId: options.tenant,
  });
  say(options, { relayed: count }, `${count} given to the relay again. Follow with: hirebridge inbox list\n`);
}

export function defineReplay(command: Command): void {
  command
    .description(
      'Process stored webhooks again, one or all of a time window: the records they name are read again. ' +
        'Completed work stays as it is. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant whose deliveries to replay')
    .argument('[delivery]', 'id of one delivery, as `inbox list` shows it')
    .option('--since <duration>', 'those received in the last 2h, 3d, ...')
    .option('--until <duration>', 'with --since: but not in the last 30m, ...')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge replay acme 3f6a0c19be42', 'hirebridge replay acme --since 2h'))
    .action(runReplay);
}

interface Flags {
  since?: string;
  until?: string;
  json?: boolean;
  as?: string;
}

async function runReplay(
  tenantId: string,
  delivery: string | undefined,
  { since, until = '0s', ...options }: Flags,
  command: Command,
): Promise<void> {
  if ((delivery === undefined) === (since === undefined)) command.error('error: name one delivery, or give --since');

  const ageOf = (text: string): number => {
    const parsed = duration.safeParse(text);
    return parsed.success ? parsed.data : command.error(`error: '${text}': ${parsed.error.issues[0]?.message}`);
  };
  const replay = {
    tenantId,
    by: byOf(options),
    ...(delivery === undefined ? {} : { delivery }),
    ...(since === undefined ? {} : { window: { sinceMs: ageOf(since), untilMs: ageOf(until) } }),
  };
  const count = await withStore(await placesOf(command), (store) => replayDeliveries(store, replay), {
    mustExist: true,
    tenantId,
  });
  const text = `${count} given to the relay. Follow with: hirebridge inbox list --tenant ${tenantId}\n`;
  say(options, { relayed: count }, text);
}
