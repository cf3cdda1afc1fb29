import { type Command, Option } from 'commander';
import { rejected } from '../errors.ts';
import { duration } from '../hris/option-types.ts';
import {
  type DeliveryView,
  inboxStates,
  listDeliveries,
  replayDeliveries,
  retryDeliveries,
} from '../operator/deliveries.ts';
import { listEvents, replayEvents, type WhichEvents } from '../store/events-out.ts';
import type { Store } from '../store/open-store.ts';
import { leftStates } from '../store/schema.ts';
import { AS, byOf, example, type Flags, limitOf, printJson, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

export const commands = { inbox: defineInbox, events: defineEvents, replay: defineReplay };

function defineInbox(command: Command): void {
  command.description('List webhook deliveries, and relay failed ones again.');
  command
    .command('list')
    .description('List deliveries without effect: undeliverable, of another company, or of an unknown event.')
    .option('--tenant <tenant>', 'only those of one tenant')
    .addOption(new Option('--state <state>', 'those in this state instead').choices(inboxStates))
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

interface ListOptions extends Flags {
  tenant?: string;
  state?: DeliveryView['state'];
}

async function runList(options: ListOptions, command: Command): Promise<void> {
  const { tenant: tenantId, state } = options;
  const filter = { tenantId, states: state === undefined ? leftStates : [state], limit: limitOf(options) };
  const found = await withStore(command, (store) => listDeliveries(store, filter), tenantId);
  say(options, found, renderDeliveries(found));
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
  options: Flags & { all?: boolean; tenant?: string },
  command: Command,
): Promise<void> {
  if ((delivery === undefined) === (options.all !== true)) command.error('error: name one delivery, or write --all');

  const { tenant: tenantId } = options;
  const request = { by: byOf(options), delivery, tenantId };
  const count = await withStore(command, (store) => retryDeliveries(store, request), tenantId);
  say(options, { relayed: count }, `${count} given to the relay again. Follow with: hirebridge inbox list\n`);
}

function defineReplay(command: Command): void {
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

async function runReplay(
  tenantId: string,
  delivery: string | undefined,
  { since, until = '0s', ...options }: Flags & { since?: string; until?: string },
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
    delivery,
    window: since === undefined ? undefined : { sinceMs: ageOf(since), untilMs: ageOf(until) },
  };
  const count = await withStore(command, (store) => replayDeliveries(store, replay), tenantId);
  const text = `${count} given to the relay. Follow with: hirebridge inbox list --tenant ${tenantId}\n`;
  say(options, { relayed: count }, text);
}

function defineEvents(command: Command): void {
  command.description("List the events sent to a tenant's `events` address, and send them again.");
  which(command.command('list'))
    .description('List events, latest first, with when each was accepted, or why not.')
    .option('--waiting', 'only those not accepted yet')
    .option('--json', 'print JSON, without a limit')
    .addHelpText('after', example('hirebridge events list acme', 'hirebridge events list acme --waiting'))
    .action(listSent);
  which(command.command('replay'))
    .option(...AS)
    .description('Send events again, in order and with the same ids: one, or those that --hire and --since choose.')
    .argument('[event]', 'id of one event, as `events list` shows it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge events replay acme --since 2h'))
    .action(sendAgain);
  command
    .command('schema')
    .description('Print the JSON Schema of what is sent.')
    .addHelpText('after', example('hirebridge events schema > events.schema.json'))
    .action(async () => printJson((await import('../worker/outgoing.ts')).eventSchema()));
}

function which(command: Command): Command {
  return command
    .argument('<tenant>', 'tenant whose events')
    .option('--hire <id>', 'only those of one job candidate')
    .option('--since <duration>', 'only those of the last 2h, 3d, ...');
}

interface Which extends Flags {
  hire?: string;
  since?: string;
}

function chosen(tenantId: string, { hire, since }: Which) {
  return { tenantId, jobCandidateId: hire, sinceMs: since === undefined ? undefined : duration.parse(since) };
}

async function listSent(tenantId: string, options: Which & { waiting?: boolean }, command: Command): Promise<void> {
  const { json = false, waiting = false } = options;
  const which = [chosen(tenantId, options), { waiting, limit: json ? undefined : SHOWN }] as const;
  const found = await withStore(command, (store) => eventViews(store, ...which), tenantId);
  const rows = found.map((one) => [one.event, one.at, one.type, one.jobCandidateId ?? '-', one.takenAt ?? one.waits]);
  const table = renderListed(['event', 'at', 'type', 'hire', 'taken'], rows);
  say(options, found, found.length === 0 ? 'No events.\n' : table);
}

async function sendAgain(tenantId: string, event: string | undefined, options: Which, command: Command): Promise<void> {
  if (event === undefined && options.hire === undefined && options.since === undefined)
    throw rejected(
      'EVENTS_NOT_CHOSEN',
      'Say which events: the id of one, --hire ID or --since 2h. All that are kept: --since 30d.',
    );
  const request = { ...chosen(tenantId, options), eventId: event };
  const count = await withStore(command, (store) => replayOf(store, request, byOf(options)), tenantId);
  say(options, { replayed: count }, `${count} sent again. Follow with: hirebridge events list ${tenantId}\n`);
}

const SHOWN = 50;

async function eventViews(...which: Parameters<typeof listEvents>) {
  return (await listEvents(...which)).map(
    ({ event_id: event, at, type, job_candidate_id: hire, taken_at: taken, tries, last_error }) => ({
      event,
      at: new Date(Number(at)).toISOString(),
      type,
      jobCandidateId: hire === '' ? undefined : hire,
      takenAt: taken === null ? undefined : new Date(Number(taken)).toISOString(),
      /** The event's state while it is undelivered. */
      waits: last_error === null ? 'waits' : `waits: ${last_error}, ${tries} tries`,
    }),
  );
}

/** Returns how many events are sent once more. @throws ConnectorError EVENT_UNKNOWN */
export async function replayOf(store: Store, which: WhichEvents, by: string): Promise<number> {
  const count = await replayEvents(store, which, by);
  if (count > 0 || which.eventId === undefined) return count;
  throw rejected(
    'EVENT_UNKNOWN',
    `${which.tenantId} has no event ${which.eventId}. ` + `List them with: hirebridge events list ${which.tenantId}`,
  );
}
