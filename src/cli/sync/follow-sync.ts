import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError } from '../../errors.ts';
import type { SavedRateLimit } from '../../rate-limit/saved-rate-limit.ts';
import type { Store } from '../../store/open-store.ts';
import { readQuarantine } from '../../store/quarantine.ts';
import { readRateLimit } from '../../store/rate-limits.ts';
import type { StreamRow } from '../../store/schema.ts';
import { readStream } from '../../store/streams.ts';
import { readTenantState } from '../../store/tenant-states.ts';
import type { StreamStep } from '../../streams/stream-activities.ts';
import type { StreamName } from '../../streams/streams.ts';
import { startSync, syncBusy } from '../../temporal/start-sync.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Places } from '../options.ts';
import { renderTable } from '../table.ts';
import { type CommandParts, withClient } from '../with-client.ts';
import { createProgress } from './progress.ts';

export interface SyncOptions extends Places {
  tenantId: string;
  stream: StreamName;
  full: boolean;
  json: boolean;
}

const LOOK_MS = 500;
const PATIENCE_MS = 10_000;
/** At most so many of what was left out are listed. */
const MOST_LISTED = 20;

/** Begins a pass, shows how far it is, and prints its counts. */
export async function followSync(options: SyncOptions): Promise<ExitCode> {
  const { tenantId, tenantsDir } = options;
  return withClient(options, async (parts) => {
    if (!parts.tenants.some((tenant) => tenant.tenant === tenantId))
      throw refusal('TENANT_UNKNOWN', `No file in ${tenantsDir} names the tenant "${tenantId}". Check the name.`);
    const handle = await startSync(parts.hires, options);
    const step = await watch(parts, options, handle);
    return conclude(parts, options, step);
  });
}

async function watch(
  { store }: CommandParts,
  { tenantId, stream }: SyncOptions,
  handle: { firstExecutionRunId?: string; result(): Promise<StreamStep> },
): Promise<StreamStep> {
  const progress = createProgress(`${tenantId} ${stream}`);
  const warnAt = performance.now() + PATIENCE_MS;
  let warned = false;
  const ended = handle.result();
  ended.catch(() => undefined);
  try {
    for (;;) {
      const step = await Promise.race([ended, pause(LOOK_MS, undefined)]);
      const row = await readStream(store, { tenantId, stream });
      if (row?.state === 'running') progress.show(row, await rateLimitOf(store, tenantId));
      if (!warned) {
        const isLate = row?.state !== 'running' && performance.now() > warnAt;
        const why = await whyItWaits(store, tenantId, isLate);
        if (why !== undefined) process.stderr.write(`${why}\n`);
        warned = why !== undefined;
      }
      if (step !== undefined) return step;
    }
  } finally {
    progress.stop();
  }
}

/** A paused tenant's runs wait until its key works again, with a worker or without. */
async function whyItWaits(store: Store, tenantId: string, isLate: boolean): Promise<string | undefined> {
  const { state, paused_code: code, paused_message: message } = await readTenantState(store, tenantId);
  if (state === 'paused')
    return `${tenantId} is paused, and this run waits with it: ${message ?? ''} [${code ?? ''}] It goes on by itself once the cause is cured.`;
  return isLate ? 'No worker has taken it yet. Start one: hirebridge up, or hirebridge worker.' : undefined;
}

/** Calls a second that the fleet may make of this partner, as learned so far. */
async function rateLimitOf(store: Store, tenantId: string): Promise<number | undefined> {
  return ((await readRateLimit(store, { tenantId, upstream: 'partner' })) as SavedRateLimit | undefined)?.rate;
}

async function conclude(
  { store }: CommandParts,
  { tenantId, stream, json }: SyncOptions,
  step: StreamStep,
): Promise<ExitCode> {
  const key = { tenantId, stream };
  const row = await readStream(store, key);
  if (step.state === 'busy' || step.state === 'superseded') throw syncBusy(tenantId, stream);
  if (step.state === 'refused')
    throw refusal(step.code ?? 'SYNC_REFUSED', row?.refused_message ?? 'The run was refused.');
  const quarantined = await readQuarantine(store, key);
  const leftOut = quarantined.map((one) => ({ record: one.record_key, page: one.page, reason: one.reason }));
  if (json) process.stdout.write(`${JSON.stringify({ state: step.state, ...step.counts, leftOut }, null, 2)}\n`);
  else process.stdout.write(`${describe(step, row)}\n`);
  if (quarantined.length > 0 && !json) process.stdout.write(`\n${listed(quarantined)}\n`);
  return step.state === 'partial' ? EXIT.partial : EXIT.done;
}

function describe({ state, counts }: StreamStep, row: StreamRow | undefined): string {
  const numbers = Object.entries(counts ?? {}).map(([name, count]) => `${count} ${name}`);
  const seconds =
    row === undefined || row.ended_at === null ? '' : ` in ${((row.ended_at - row.started_at) / 1000).toFixed(1)} s`;
  return `${state}: ${numbers.join(', ')}${seconds}`;
}

function listed(rows: Awaited<ReturnType<typeof readQuarantine>>): string {
  const shown = rows
    .slice(0, MOST_LISTED)
    .map((row) => [row.record_key, new Date(row.since).toISOString(), row.reason]);
  const more = rows.length > MOST_LISTED ? `\n... and ${rows.length - MOST_LISTED} more` : '';
  return `${renderTable(['left out', 'since', 'reason'], shown)}${more}`;
}

function refusal(code: string, message: string): ConnectorError {
  return new ConnectorError({ code, action: 'reject', message });
}
