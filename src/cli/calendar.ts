import type { Command } from 'commander';
import { rejected } from '../errors.ts';
import { listFeeds, makeFeed, revokeFeed } from '../store/calendars.ts';
import type { Store } from '../store/open-store.ts';
import { AS, byOf, example, type Flags, renderListed, say } from './command.ts';
import { withStore } from './open.ts';

export const commands = { calendar: defineCalendar };

function defineCalendar(command: Command): void {
  command.description(
    "Make, list and revoke addresses where calendars read a tenant's booked interviews (iCalendar, served by `serve`).",
  );
  command
    .command('make')
    .argument('<tenant>', 'tenant whose bookings it shows')
    .option(...AS)
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
  command
    .command('revoke')
    .argument('<tenant>', 'tenant of the address')
    .option(...AS)
    .argument('<feed>', 'its id, as `calendar list` shows it')
    .description('Revoke an address: from then on it answers 404.')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge calendar revoke acme 4f1d0c92ab77'))
    .action(runRevoke);
}

async function runMake(
  tenantId: string,
  options: Flags & { schedule?: string[]; url: string },
  command: Command,
): Promise<void> {
  const { schedule: schedules = [], url } = options;
  const make = (store: Store) => makeFeed(store, { tenantId, schedules, by: byOf(options) });
  const { feedId, token } = await withStore(command, make, tenantId);
  const address = `${url.replace(/\/+$/, '')}/calendars/${token}.ics`;
  say(
    options,
    { feed: feedId, address },
    `${address}\nIt is shown only once. Revoke it with: hirebridge calendar revoke ${tenantId} ${feedId}\n`,
  );
}

async function runList(tenantId: string, options: Flags, command: Command): Promise<void> {
  const feeds = await withStore(command, (store) => listFeeds(store, tenantId), tenantId);
  const views = feeds.map((feed) => ({
    feed: feed.feed_id,
    schedules: feed.schedules === null ? 'all' : (JSON.parse(feed.schedules) as string[]).join(', '),
    madeAt: new Date(Number(feed.made_at)).toISOString(),
    madeBy: feed.made_by,
    revokedAt: feed.revoked_at === null ? null : new Date(Number(feed.revoked_at)).toISOString(),
  }));
  const rows = views.map((one) => [one.feed, one.schedules, one.madeAt, one.madeBy, one.revokedAt ?? '-']);
  const table = renderListed(['feed', 'schedules', 'made', 'by', 'revoked'], rows);
  say(options, views, views.length === 0 ? 'No calendar addresses.\n' : table);
}

async function runRevoke(tenantId: string, feedId: string, options: Flags, command: Command): Promise<void> {
  const revoke = (store: Store) => revokeFeed(store, { tenantId, feedId, by: byOf(options) });
  if (!(await withStore(command, revoke, tenantId)))
    throw rejected(
      'CALENDAR_UNKNOWN',
      `${tenantId} has no calendar address ${feedId} that is still valid. List them with: hirebridge calendar ` +
        `list ${tenantId}`,
    );
  say(options, { revoked: feedId }, `Revoked: the address answers 404 from now on.\n`);
}
