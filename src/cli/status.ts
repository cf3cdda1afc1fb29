import type { Command } from 'commander';
import { withCode } from '../docs.ts';
import { age, count } from '../in-words.ts';
import {
  describeRole,
  isMissing,
  readRateLimits,
  readStatus,
  type Status,
  type StreamStatus,
  type TenantStatus,
} from '../operator/status.ts';
import { knownTenant } from '../operator/tenants.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import { type Digest, readDigest } from '../store/alarms.ts';
import { readClock } from '../store/open-store.ts';
import { currentTenants } from '../tenants/current-tenants.ts';
import { EXIT, example, type Flags, folded, renderTable, say } from './command.ts';
import { withStore } from './open.ts';

export const commands = { status: defineStatus, digest: defineDigest, 'rate-limit': defineRateLimit };

function defineStatus(command: Command): void {
  command
    .description(
      'Show tenants, hires by state, holds with their reason, inbox and reconcile ages, and the last run of each ' +
        'stream. Exit code 3 if a worker or receiver should run and does not.',
    )
    .option('--verbose', 'show every column: calls, inbox, answers of both sides, records of each stream')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge status', 'hirebridge status --verbose', 'hirebridge status --json'))
    .action(runStatus);
}

async function runStatus(options: Flags & { verbose?: boolean }, command: Command): Promise<void> {
  const status = await withStore(command, async (store, { tenantsDir }) =>
    readStatus(store, await currentTenants(store, tenantsDir)),
  );
  say(options, status, () => renderStatus(status, options.verbose === true));
  if (status.processes.some(isMissing)) process.exitCode = EXIT.partial;
}

/** Things that need a person come first; a fleet's tables show tenants in need, and say how many are left out. */
function renderStatus(status: Status, isVerbose: boolean): string {
  const inNeed = new Set(status.holds.map(({ tenantId }) => tenantId));
  const rank = ({ tenantId, state, alarms }: TenantStatus): number =>
    state === 'paused' || alarms.length > 0 ? 0 : inNeed.has(tenantId) ? 1 : 2;
  const tenants = status.tenants.toSorted((a, b) => rank(a) - rank(b));
  const running = status.processes.map((role) => describeRole(role, age));
  const lines = [...running, ...troubleLines(status)];
  const parts = isVerbose
    ? [
        running.join('\n'),
        ...lines.slice(running.length),
        wholeHolds(status),
        renderSome(TENANT_HEAD, tenants.map(tenantRow), 'hirebridge status --json'),
        ...streamsPart(tenants),
      ]
    : [...lines.map((line) => folded(line)), holdsPart(status), ...shortTables(tenants)];
  return `${[folded(summaryOf(status)), ...parts].join('\n\n')}\n`;
}

/** The summary sentence for people from HR. */
function summaryOf({ holds, tenants, processes, freezes }: Status): string {
  const open = tenants.reduce((sum, { state, hires }) => sum + (state === 'removed' ? 0 : (hires.open ?? 0)), 0);
  const trouble = tenants.filter(({ state, alarms }) => state === 'paused' || alarms.length > 0).length;
  const way = open === 0 ? 'No hire is under way' : `${count(open, 'hire is', 'hires are')} under way`;
  const stopped = processes.some(isMissing) || freezes.length > 0 ? ' Not everything is running, see below.' : '';
  const ill = trouble === 0 ? '' : ` ${count(trouble, 'tenant has', 'tenants have')} trouble, see below.`;
  const asks =
    holds.length === 0
      ? '; nobody needs to do anything.'
      : `; ${count(holds.length, 'question waits', 'questions wait')} for an answer.`;
  return `${way}${stopped + ill === '' || holds.length > 0 ? asks : '.'}${stopped}${ill}`;
}

const TENANT_HEAD = ['tenant', 'state', 'baseline', 'last reconcile', 'answered', 'hires', 'inbox', 'calls'];

/** Tables that fit into 80 columns. */
function shortTables(tenants: readonly TenantStatus[]): string[] {
  const rows = tenants.map((tenant) => [
    cut(tenant.tenantId),
    stateText(tenant),
    String(tenant.hires.open ?? 0),
    String(tenant.hires.done ?? 0),
    tenant.reconcileAgeMs === undefined ? 'never' : `${age(tenant.reconcileAgeMs)} ago`,
  ]);
  const table = renderSome(['tenant', 'state', 'under way', 'done', 'compared'], rows, 'hirebridge status --json');
  const streams = tenants.flatMap(({ tenantId, streams: own }) =>
    own.map(({ stream, state, pausedBy, ageMs, quarantined }) => [
      cut(tenantId),
      stream,
      pausedBy === undefined ? state : 'paused',
      `${age(ageMs)} ago`,
      String(quarantined),
    ]),
  );
  const [, ...advice] = streamsPart(tenants);
  if (streams.length === 0) return [table];
  const shown = renderSome(['tenant', 'stream', 'last run', 'when', 'left out'], streams, 'hirebridge status --json');
  return [table, shown, ...advice.map((line) => folded(line))];
}

const MOST_NAME = 24;

function cut(name: string): string {
  return name.length <= MOST_NAME ? name : `${name.slice(0, MOST_NAME - 3)}...`;
}

function holdsPart({ holds }: Status): string {
  if (holds.length === 0) return 'No holds.';
  const lines = holds.slice(0, MOST_ROWS).map(({ holdId, tenantId, jobCandidateId, ageMs, code, message }) => {
    const whose = jobCandidateId === null ? tenantId : `${tenantId}, job candidate ${jobCandidateId}`;
    return folded(`${holdId}  ${whose}, for ${age(ageMs)}: ${message} [${code}]`, '  ');
  });
  const more = holds.length > MOST_ROWS ? `\n... and ${holds.length - MOST_ROWS} more: hirebridge hold list` : '';
  return `${lines.join('\n')}${more}\n\nHow to answer one: hirebridge hold show ID`;
}

function wholeHolds({ holds }: Status): string {
  if (holds.length === 0) return 'No holds.';
  const rows = holds.map((hold) => [
    hold.holdId,
    hold.tenantId,
    hold.jobCandidateId ?? '(tenant)',
    age(hold.ageMs),
    `${hold.code}: ${hold.message}`,
  ]);
  const table = renderSome(['hold', 'tenant', 'job candidate', 'age', 'reason'], rows, 'hirebridge hold list');
  return `${table}\n\nHow to answer one: hirebridge hold show ID`;
}

/** Most rows shown: a thousand help nobody, and take longer to lay out than to read from the store. */
const MOST_ROWS = 50;

function renderSome(head: readonly string[], rows: readonly (readonly string[])[], all: string): string {
  const table = renderTable(head, rows.slice(0, MOST_ROWS));
  return rows.length <= MOST_ROWS ? table : `${table}\n... and ${rows.length - MOST_ROWS} more: ${all}`;
}

function streamsPart(tenants: readonly TenantStatus[]): string[] {
  const rows = tenants.flatMap(({ tenantId, streams }) => streams.map((stream) => streamRow(tenantId, stream)));
  if (rows.length === 0) return [];
  const left = tenants.flatMap(({ tenantId, streams }) =>
    streams.flatMap(({ stream, quarantined }) => (quarantined > 0 ? [`hirebridge sync ${tenantId} ${stream}`] : [])),
  );
  const advice = left.length === 0 ? '' : `\n\nRead again, and listed with its reason, by: ${left.join(', ')}`;
  // Refusals that an alarm above reports are not repeated.
  const refused = tenants.flatMap(({ tenantId, streams, alarms }) =>
    streams.flatMap(({ stream, refused: why }) =>
      why && !alarms.some(({ subject, reason }) => subject === `stream ${stream}` && reason === why.code)
        ? [`${tenantId} ${stream} was refused: ${withCode(why.message, why.code)}`]
        : [],
    ),
  );
  const head = ['tenant', 'stream', 'last run', 'when', 'records', 'left out', 'partner / HR system'];
  return [`${renderSome(head, rows, 'hirebridge status --json')}${advice}`, ...refused];
}

function streamRow(tenantId: string, status: StreamStatus): string[] {
  const { stream, state, ageMs, counts, total, quarantined, pausedBy } = status;
  const { read, skipped, held, ...kinds } = counts;
  const rare = Object.fromEntries(Object.entries({ skipped, held }).filter(([, count]) => count > 0));
  const stands = pausedBy === undefined ? state : `paused by ${pausedBy}`;
  const of = state === 'running' && total !== undefined ? ` of ${total}` : '';
  const records = `${read}${of} read, ${countsText({ ...kinds, ...rare })}`;
  return [tenantId, stream, stands, `${age(ageMs)} ago`, records, String(quarantined), coverageText(status)];
}

/** Record counts of both sides at the last full read, and the age of unprocessed hints. */
function coverageText({ coverage, hintsWaitMs }: StreamStatus): string {
  const hints = hintsWaitMs === undefined ? '' : `, hints wait ${age(hintsWaitMs)}`;
  if (coverage === undefined) return `-${hints}`;
  return `${coverage.partner} / ${coverage.hris}, ${age(coverage.ageMs)} ago${hints}`;
}

function stateText({ state, onlyObserves, creditGateClosed }: TenantStatus): string {
  return `${state}${onlyObserves === true ? ', observes' : ''}${creditGateClosed ? ' (no credits)' : ''}`;
}

function tenantRow(tenant: TenantStatus): string[] {
  const { counts, oldestWaitingMs } = tenant.inbox;
  const waiting = oldestWaitingMs === undefined ? '' : `, oldest waiting ${age(oldestWaitingMs)}`;
  const reconcile = tenant.reconcileAgeMs === undefined ? 'never' : `${age(tenant.reconcileAgeMs)} ago`;
  return [
    tenant.tenantId,
    stateText(tenant),
    tenant.baseline,
    reconcile,
    answeredText(tenant),
    countsText(tenant.hires),
    countsText(counts) + waiting,
    callsText(tenant),
  ];
}

function answeredText({ answeredMs: { partner, hris } }: TenantStatus): string {
  const side = (name: string, ms: number | undefined): string => `${name} ${ms === undefined ? 'never' : age(ms)}`;
  return `${side('partner', partner)}, ${side('HR', hris)}`;
}

/** Calls under the partner's rate limit; `hirebridge rate-limit` shows all limits. */
function callsText({ rateLimits }: TenantStatus): string {
  const seen = rateLimits.find(({ upstream }) => upstream === 'partner');
  if (seen === undefined) return 'none';
  const { perSecond, rate, share429 } = seen;
  return `${perSecond.toFixed(1)}/s of ${rate.toFixed(1)}/s, ${(share429 * 100).toFixed(1)} % 429`;
}

function countsText(counts: Partial<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** A shorter wait is over before anybody has read of it. */
const LONG_PAUSE_MS = 60_000;

function waitingCalls({ tenantId, rateLimits }: TenantStatus): string[] {
  return rateLimits.flatMap(({ upstream, pausedMs = 0 }) =>
    pausedMs < LONG_PAUSE_MS
      ? []
      : [
          `warning: ${upstream} of ${tenantId} answered 429: no call is made for ${age(pausedMs)} more, and its ` +
            `hires and streams wait. What is known of the limit: hirebridge rate-limit ${tenantId}`,
        ],
  );
}

/** Most lines of one kind; --json has all. */
const MOST_OF_A_KIND = 50;

/** What a person should look at, from the widest scope down: freezes, pauses, alarms, webhooks. One paragraph each. */
function troubleLines({ freezes, tenants }: Status): string[] {
  const pauses = tenants.flatMap(({ tenantId, paused }) =>
    paused ? [`${tenantId} is paused: ${withCode(paused.message, paused.code)}`] : [],
  );
  const alarms = tenants.flatMap(({ tenantId, alarms: own }) =>
    own
      // Reported above.
      .filter(({ kind }) => kind !== 'tenant-paused')
      .map(
        ({ subject, reason, message, ageMs }) =>
          `alarm: ${tenantId} ${subject}, for ${age(ageMs)}: ${withCode(message, reason)}`,
      ),
  );
  const warnings = tenants.flatMap(({ webhookWarning }) =>
    webhookWarning === undefined ? [] : [`warning: ${webhookWarning}`],
  );
  const waits = tenants.flatMap(waitingCalls);
  return [freezes.map(freezeLine), pauses, alarms, waits, warnings].flatMap(shortened);
}

function shortened(lines: readonly string[]): string[] {
  if (lines.length <= MOST_OF_A_KIND) return [...lines];
  const more = lines.length - MOST_OF_A_KIND;
  return [...lines.slice(0, MOST_OF_A_KIND), `... and ${more} more like these: hirebridge status --json`];
}

function freezeLine({ tenantId, ageMs, by }: Status['freezes'][number]): string {
  const whose = tenantId ?? 'Every tenant';
  const thaw = ['hirebridge thaw', ...(tenantId === undefined ? [] : [tenantId])].join(' ');
  return `${whose} is frozen by ${by}, for ${age(ageMs)}: nothing is written. To allow writes again: ${thaw}`;
}

function defineDigest(command: Command): void {
  command
    .description("Show a tenant's last 24 hours: hires, holds and why, alarms. `notify.digest` sends it once a day.")
    .argument('<tenant>', 'tenant to show')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge digest acme'))
    .action(runDigest);
}

const DAY_MS = 86_400_000;

async function runDigest(tenantId: string, options: Flags, command: Command): Promise<void> {
  const digest = await withStore(command, async (store, { tenantsDir }) => {
    knownTenant(await currentTenants(store, tenantsDir), tenantId);
    const now = await readClock(store);
    return readDigest(store, tenantId, now - DAY_MS, now);
  });
  say(options, digest, renderDigest(digest));
}

function renderDigest({ tenantId, from, to, hires, holds, alarms }: Digest): string {
  const ended = Object.entries(hires.ended).map(([state, count]) => `${count} ${state}`);
  const parts = [
    `${tenantId}, ${from} to ${to}`,
    `Hires: ${[`${hires.begun} begun`, ...ended, `${hires.open} open now`].join(', ')}.`,
    ...(hires.done.length === 0 ? [] : [`Done, by job candidate: ${hires.done.join(', ')}`]),
    `Holds: ${holds.opened} opened, ${holds.open} open now.`,
    ...alarms.map(({ subject, reason, message }) => `alarm: ${subject}: ${message} [${reason}]`),
  ];
  const rows = holds.waiting.map((hold) => [hold.holdId, hold.jobCandidateId ?? '(tenant)', hold.since, hold.code]);
  const table = rows.length === 0 ? [] : [renderTable(['hold', 'job candidate', 'since', 'reason'], rows)];
  return `${[...parts, ...table].join('\n\n')}\n`;
}

function defineRateLimit(command: Command): void {
  command
    .description('Show the rate limits learned for one tenant, how much of them is used, and how long calls wait.')
    .argument('<tenant>', 'tenant whose calls are limited')
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge rate-limit acme'))
    .action(runRateLimit);
}

async function runRateLimit(tenantId: string, options: Flags, command: Command): Promise<void> {
  const views = await withStore(command, (store) => readRateLimits(store, tenantId), tenantId);
  say(options, views, views.length === 0 ? `No call was made for ${tenantId} yet.\n` : `${renderViews(views)}\n`);
}

function renderViews(views: readonly RateLimitView[]): string {
  const heads = [
    'at',
    'state',
    'rate',
    'limit',
    'kind',
    'noise',
    'in flight',
    'used',
    '429s',
    'live waits',
    'bulk waits',
  ];
  return renderTable(heads, views.map(rowOf));
}

function rowOf(view: RateLimitView): (string | number)[] {
  const { upstream, state, pausedMs, rate, limit, kind, noise, mostInFlight, use, share429, waits } = view;
  return [
    upstream,
    pausedMs === undefined ? state : `${state}, ${age(pausedMs)} more`,
    `${rate.toFixed(2)}/s`,
    limit === undefined ? '-' : `${limit.toFixed(2)}/s`,
    kind,
    percent(noise),
    mostInFlight ?? '-',
    percent(use),
    percent(share429),
    waitsText(waits.live),
    waitsText(waits.bulk),
  ];
}

function waitsText(waits: RateLimitView['waits']['live']): string {
  return waits === undefined ? '-' : `p50 ${waits.p50Ms} ms, p99 ${waits.p99Ms} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
