import type { Command } from 'commander';
import { ConnectorError } from '../errors.ts';
import { listFeeds, makeFeed, revokeFeed } from '../store/calendars.ts';
import { asOption, byOf, example, placesOf, print, printJson, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

interface Flags {
  schedule?: string[];
  url?: string;
  json?: boolean;
  as?: string;
}

export function defineCalendar(command: Command): void {
  command.description(
    "Make, list and revoke addresses where calendars read a tenant's booked interviews (iCalendar, served by `serve`).",
  );
  asOption(command.command('make').argument('<tenant>', 'tenant whose bookings it shows'))
    .description('Make an address and print it, once: only its hash is kept. Anyone who has it can read the calendar.')
    .option('--schedule <id...>', 'only bookings of these schedules, such as those of one interviewer')
    .option('--url <base>', 'where the receiver is reached from outside', 'https://RECEIVER')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge calendar make acme --schedule 71 --url https://hooks.example.com'))
    .action(runMake);
  command
    .command('list')
    .argument('<tenant>', 'tenant whose addresses')
    .description('List addresses by their ids, newest first, with what each shows and whether it was revoked.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge calendar list acme'))
    .action(runList);
  asOption(command.command('revoke').argument('<tenant>', 'tenant of the address'))
    .argument('<feed>', 'its id, as `calendar list` shows it')
    .description('Revoke an address: from then on it answers 404.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge calendar revoke acme 4f1d0c92ab77'))
    .action(runRevoke);
}

async function runMake(tenantId: string, options: Flags, command: Command): Promise<void> {
  const { schedule: schedules = [], url = '' } = options;
  const make = (store: Parameters<typeof makeFeed>[0]) => makeFeed(store, { tenantId, schedules, by: byOf(options) });
  const { feedId, token } = await withStore(await placesOf(command), make, { mustExist: true, tenantId });
  const address = `${url.replace(/\/+$/, '')}/calendars/${token}.ics`;
  say(
    options,
    { feed: feedId, address },
    `${address}\nIt is shown only once. Revoke it with: hirebridge calendar revoke ${tenantId} ${feedId}\n`,
  );
}

async function runList(tenantId: string, options: Flags, command: Command): Promise<void> {
  const list = (store: Parameters<typeof listFeeds>[0]) => listFeeds(store, tenantId);
  const feeds = await withStore(await placesOf(command), list, { mustExist: true, tenantId });
  const views = feeds.map((feed) => ({
    feed: feed.feed_id,
    schedules: feed.schedules === null ? 'all' : (JSON.parse(feed.schedules) as string[]).join(', '),
    madeAt: new Date(Number(feed.made_at)).toISOString(),
    madeBy: feed.made_by,
    revokedAt: feed.revoked_at === null ? null : new Date(Number(feed.revoked_at)).toISOString(),
  }));
  if (options.json === true) return printJson(views);
  if (views.length === 0) return print('No calendar addresses.\n');
  const rows = views.map((one) => [one.feed, one.schedules, one.madeAt, one.madeBy, one.revokedAt ?? '-']);
  print(renderListed(['feed', 'schedules', 'made', 'by', 'revoked'], rows));
}

async function runRevoke(tenantId: string, feedId: string, options: Flags, command: Command): Promise<void> {
  const revoke = (store: Parameters<typeof revokeFeed>[0]) =>
    revokeFeed(store, { tenantId, feedId, by: byOf(options) });
  if (!(await withStore(await placesOf(command), revoke, { mustExist: true, tenantId })))
    throw new ConnectorError({
      code: 'CALENDAR_UNKNOWN',
      action: 'reject',
      message:
        `${tenantId} has no calendar address ${feedId} that is still valid. List them with: hirebridge calendar ` +
        `list ${tenantId}`,
    });
  say(options, { revoked: feedId }, `Revoked: the address answers 404 from now on.\n`);
}
