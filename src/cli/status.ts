import type { Command } from 'commander';
import type { Status, TenantStatus } from '../operator/read-status.ts';
import type { StreamStatus } from '../operator/read-streams.ts';
import type { Store } from '../store/open-store.ts';
import { age } from './ages.ts';
import { example, placesOf } from './options.ts';
import { renderTable } from './table.ts';
import { withStore } from './with-store.ts';

export function addStatus(program: Command): void {
  program
    .command('status')
    .description(
      'Show tenants, hires by state, holds with their reason, inbox and reconcile ages, ' +
        'and the last run of each stream.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('hirebridge status', 'hirebridge status --json'))
    .action(runStatus);
}

async function runStatus(options: { json?: boolean }, command: Command): Promise<void> {
  const places = placesOf(command);
  const [{ currentTenants }, { readStatus }] = await Promise.all([
    import('../tenants/current-tenants.ts'),
    import('../operator/read-status.ts'),
  ]);
  const read = async (store: Store): Promise<Status> =>
    readStatus(store, await currentTenants(store, places.tenantsDir));
  const status = await withStore(places, read, { mustExist: true });
  process.stdout.write(options.json === true ? `${JSON.stringify(status, null, 2)}\n` : renderStatus(status));
}

function renderStatus(status: Status): string {
  const tenants = renderTable(
    ['tenant', 'state', 'baseline', 'last reconcile', 'hires', 'inbox'],
    status.tenants.map(tenantRow),
  );
  const freezes = status.freezes.map(freezeLine);
  const pauses = status.tenants.flatMap(({ tenantId, paused }) =>
    paused ? [`${tenantId} is paused: ${paused.message} [${paused.code}]`] : [],
  );
  const alarms = status.tenants.flatMap(({ tenantId, alarms: own }) =>
    own.map(
      ({ subject, reason, message, ageMs }) =>
        `alarm: ${tenantId} ${subject}, for ${age(ageMs)}: ${message} [${reason}]`,
    ),
  );
  const warnings = status.tenants.flatMap(({ webhookWarning }) =>
    webhookWarning === undefined ? [] : [`warning: ${webhookWarning}`],
  );
  const holds = status.holds.map((hold) => [
    hold.holdId,
    hold.tenantId,
    hold.jobCandidateId ?? '(tenant)',
    age(hold.ageMs),
    `${hold.code}: ${hold.message}`,
  ]);
  const table = renderTable(['hold', 'tenant', 'job candidate', 'age', 'reason'], holds);
  const heldPart = holds.length === 0 ? 'No holds.' : `${table}\n\nHow to answer one: hirebridge hold show ID`;
  const troubles = [...freezes, ...pauses, ...alarms, ...warnings];
  return `${[tenants, ...troubles, ...streamsPart(status.tenants), heldPart].join('\n\n')}\n`;
}

function freezeLine({ tenantId, ageMs, by }: Status['freezes'][number]): string {
  const whose = tenantId ?? 'Every tenant';
  const thaw = `hirebridge thaw ${tenantId ?? '--all'}`;
  return `${whose} is frozen by ${by}, for ${age(ageMs)}: nothing is written. To let it go on: ${thaw}`;
}

function streamsPart(tenants: readonly TenantStatus[]): string[] {
  const rows = tenants.flatMap(({ tenantId, streams }) => streams.map((stream) => streamRow(tenantId, stream)));
  if (rows.length === 0) return [];
  const left = tenants.flatMap(({ tenantId, streams }) =>
    streams.flatMap(({ stream, quarantined }) => (quarantined > 0 ? [`hirebridge sync ${tenantId} ${stream}`] : [])),
  );
  const advice = left.length === 0 ? '' : `\n\nRead again, and listed with its reason, by: ${left.join(', ')}`;
  const refused = tenants.flatMap(({ tenantId, streams }) =>
    streams.flatMap(({ stream, refused: why }) =>
      why ? [`${tenantId} ${stream} was refused: ${why.message} [${why.code}]`] : [],
    ),
  );
  return [`${renderTable(['tenant', 'stream', 'last run', 'when', 'records', 'left out'], rows)}${advice}`, ...refused];
}

function streamRow(tenantId: string, { stream, state, ageMs, counts, total, quarantined }: StreamStatus): string[] {
  const { read, ...kinds } = counts;
  const of = state === 'running' && total !== undefined ? ` of ${total}` : '';
  return [tenantId, stream, state, `${age(ageMs)} ago`, `${read}${of} read, ${countsText(kinds)}`, String(quarantined)];
}

function tenantRow(tenant: TenantStatus): string[] {
  const { counts, oldestWaitingMs } = tenant.inbox;
  const waiting = oldestWaitingMs === undefined ? '' : `, oldest waiting ${age(oldestWaitingMs)}`;
  const gate = tenant.creditGateClosed ? ' (no credits)' : '';
  const reconcile = tenant.reconcileAgeMs === undefined ? 'never' : `${age(tenant.reconcileAgeMs)} ago`;
  return [
    tenant.tenantId,
    tenant.state + gate,
    tenant.baseline,
    reconcile,
    countsText(tenant.hires),
    countsText(counts) + waiting,
  ];
}

function countsText(counts: Partial<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
