import type { Command } from 'commander';
import { ConnectorError } from '../errors.ts';
import { duration } from '../hris/option-types.ts';
import { listEvents, replayEvents, type WhichEvents } from '../store/events-out.ts';
import type { Store } from '../store/open-store.ts';
import { asOption, byOf, example, placesOf, print, printJson, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

export function defineEvents(command: Command): void {
  command.description("List the events sent to a tenant's `events` address, and send them again.");
  which(command.command('list'))
    .description('List events, latest first, with when each was accepted, or why not.')
    .option('--waiting', 'only those not accepted yet')
    .option('--json', 'print JSON, without a limit')
    .addHelpText('after', example('hirebridge events list acme', 'hirebridge events list acme --waiting'))
    .action(runList);
  asOption(which(command.command('replay')))
    .description('Send events again, in order and with the same ids: one, or those that --hire and --since choose.')
    .argument('[event]', 'id of one event, as `events list` shows it')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge events replay acme --since 2h'))
    .action(runReplay);
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

interface Which {
  hire?: string;
  since?: string;
  waiting?: boolean;
  json?: boolean;
  as?: string;
}

function chosen(tenantId: string, { hire, since }: Which) {
  return { tenantId, jobCandidateId: hire, sinceMs: since === undefined ? undefined : duration.parse(since) };
}

async function runList(tenantId: string, options: Which, command: Command): Promise<void> {
  const { json = false, waiting = false } = options;
  const look = (store: Parameters<typeof eventViews>[0]) =>
    eventViews(store, chosen(tenantId, options), { waiting, isWhole: json });
  const found = await withStore(await placesOf(command), look, { mustExist: true, tenantId });
  if (json) return printJson(found);
  if (found.length === 0) return print('No events.\n');
  const rows = found.map((one) => [one.event, one.at, one.type, one.jobCandidateId ?? '-', one.takenAt ?? one.waits]);
  print(renderListed(['event', 'at', 'type', 'hire', 'taken'], rows));
}

async function runReplay(tenantId: string, event: string | undefined, options: Which, command: Command): Promise<void> {
  if (event === undefined && options.hire === undefined && options.since === undefined)
    throw new ConnectorError({
      code: 'EVENTS_NOT_CHOSEN',
      action: 'reject',
      message: 'Say which events: the id of one, --hire ID or --since 2h. All that are kept: --since 30d.',
    });
  const request = { ...chosen(tenantId, options), eventId: event };
  const replay = (store: Parameters<typeof replayOf>[0]) => replayOf(store, request, byOf(options));
  const count = await withStore(await placesOf(command), replay, { mustExist: true, tenantId });
  say(options, { replayed: count }, `${count} sent again. Follow with: hirebridge events list ${tenantId}\n`);
}

interface EventView {
  event: string;
  at: string;
  type: string;
  jobCandidateId: string | undefined;
  takenAt: string | undefined;
  /** The event's state while it is undelivered. */
  waits: string;
}

const SHOWN = 50;

async function eventViews(
  store: Store,
  which: WhichEvents,
  { waiting, isWhole }: { waiting: boolean; isWhole: boolean },
): Promise<EventView[]> {
  const rows = await listEvents(store, which, { waiting, limit: isWhole ? undefined : SHOWN });
  return rows.map(({ event_id: event, at, type, job_candidate_id: hire, taken_at: taken, tries, last_error }) => ({
    event,
    at: new Date(Number(at)).toISOString(),
    type,
    jobCandidateId: hire === '' ? undefined : hire,
    takenAt: taken === null ? undefined : new Date(Number(taken)).toISOString(),
    waits: last_error === null ? 'waits' : `waits: ${last_error}, ${tries} tries`,
  }));
}

/** Returns how many events are sent once more. @throws ConnectorError EVENT_UNKNOWN */
export async function replayOf(store: Store, which: WhichEvents, by: string): Promise<number> {
  const count = await replayEvents(store, which, by);
  if (count > 0 || which.eventId === undefined) return count;
  throw new ConnectorError({
    code: 'EVENT_UNKNOWN',
    action: 'reject',
    message:
      `${which.tenantId} has no event ${which.eventId}. ` + `List them with: hirebridge events list ${which.tenantId}`,
  });
}
