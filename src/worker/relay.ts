import { isGrpcServiceError } from '@temporalio/client';
import pLimit from 'p-limit';
import { isConnectorError } from '../errors.ts';
import type { HintAbout } from '../hire/hire-run.ts';
import type { Logger } from '../log.ts';
import { type EventName, isEventName } from '../partner/contract/events.ts';
import { readWebhookEnvelope, type WebhookEnvelope } from '../partner/webhook.ts';
import { addHints } from '../store/hints.ts';
import { hiresOfEnrolments, latestHires } from '../store/hires.ts';
import { deferDelivery, failDelivery, finishDelivery, leaseDeliveries } from '../store/inbox.ts';
import type { Store } from '../store/open-store.ts';
import type { InboxRow, TenantRow } from '../store/schema.ts';
import { readTenantState } from '../store/tenant-states.ts';
import { isSafeId } from '../temporal/ids.ts';
import { dispatch, type Wake } from './dispatch.ts';

export interface RelayOptions {
  store: Store;
  log: Logger;
  /** False when `start` is not set and no workflow runs. */
  signalHire: (
    hire: { tenantId: string; jobCandidateId: string },
    about: HintAbout,
    options: { start: boolean; adopt?: boolean },
  ) => Promise<boolean>;
  triggerReconcile: (tenantId: string) => Promise<void>;
  /** Whether a stage is one that starts hires for this tenant. */
  isHiringStage: (tenantId: string, stageId: string) => Promise<boolean>;
  /** How long an empty inbox waits before it is looked at again, ms. */
  idleMs?: number;
  /** At most one reconcile is asked for per tenant in this time, however many events ask, ms. */
  reconcileGapMs?: number;
}

const BATCH = 50;
const IN_FLIGHT = 16;
const DEFER_MS = 1_000;

/** Moves stored deliveries on to Temporal. Several may run on one store: each row is leased by one. */
export function startRelay(options: RelayOptions): { close(): Promise<void> } {
  const stop = new AbortController();
  const running = relayUntil(stop.signal, options);
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}

async function relayUntil(stop: AbortSignal, options: RelayOptions): Promise<void> {
  const { store, log, idleMs = 200, reconcileGapMs = 2_000 } = options;
  const relay = {
    ...options,
    reconcileGapMs,
    reconciledAt: new Map<string, number>(),
    reconcilesOwed: new Set<string>(),
  };
  const limit = pLimit(IN_FLIGHT);
  while (!stop.aborted) {
    try {
      const rows = await leaseDeliveries(store, BATCH);
      await Promise.all(rows.map((row) => limit(() => relayRow(relay, row))));
      await payReconciles(relay);
      if (rows.length < BATCH) await pause(idleMs, stop);
    } catch (error) {
      log.error({ err: error }, 'inbox cannot be read');
      await pause(DEFER_MS, stop);
    }
  }
  await payReconciles(relay, true).catch((error: unknown) =>
    log.warn({ err: error }, 'a reconcile asked for is left to its schedule'),
  );
}

interface Relay extends RelayOptions {
  reconcileGapMs: number;
  reconciledAt: Map<string, number>;
  /** Tenants whose last ask came within the gap: the reconcile before it may have looked too early. */
  reconcilesOwed: Set<string>;
}

async function relayRow(relay: Relay, row: InboxRow): Promise<void> {
  const { store, log } = relay;
  try {
    const tenant = await readTenantState(store, row.tenant_id);
    // No hire starts before everyone hired earlier is recorded; the row waits, and that is no failure of it.
    if (tenant.baseline_done_at === null) return await deferDelivery(store, row, DEFER_MS);
    const envelope = readWebhookEnvelope(row.body);
    const wake = isEventName(row.event) ? dispatch[row.event as EventName] : 'ignored';
    await hints[wake](relay, row, envelope, tenant);
    await finishDelivery(store, row, wake === 'ignored' ? 'ignored' : 'relayed');
  } catch (error) {
    // Temporal or the partner being away says nothing about the row: not counted, or an outage would throw deliveries away.
    if (isUnavailable(error) || isPartnerAway(error)) return deferDelivery(store, row, DEFER_MS);
    const reason = error instanceof Error ? error.name : 'unknown';
    log.warn({ tenantId: row.tenant_id, event: row.event, tries: row.tries, reason }, 'delivery not relayed');
    await failDelivery(store, row, reason);
  }
}

type Act = (relay: Relay, row: InboxRow, envelope: WebhookEnvelope, tenant: TenantRow) => Promise<void>;

const hints: Record<Wake, Act> = {
  hired: startHires,
  async moved(relay, row, envelope, tenant) {
    const { nextStageId } = envelope.ids;
    const into = nextStageId === undefined || (await relay.isHiringStage(row.tenant_id, nextStageId));
    await (into ? startHires(relay, row, envelope, tenant) : signalRunning(relay, row, envelope));
  },
  left: signalRunning,
  onboarding: signalOnboardings,
  ignored: async () => undefined,
};

/** One start for each id; an event that came while the baseline was being taken is of a hire after go-live. */
async function startHires(relay: Relay, row: InboxRow, { ids }: WebhookEnvelope, tenant: TenantRow): Promise<void> {
  const adopt =
    row.received_at >= (tenant.baseline_started_at ?? 0) && row.received_at <= (tenant.baseline_done_at ?? 0);
  for (const jobCandidateId of ids.jobCandidateIds.filter(isSafeId))
    await relay.signalHire({ tenantId: row.tenant_id, jobCandidateId }, 'person', { start: true, adopt });
}

/** Only people we follow: a running hire gets the hint, one without a workflow is left to a reconcile of its job. */
async function signalRunning(relay: Relay, row: InboxRow, { ids }: WebhookEnvelope): Promise<void> {
  const known = await latestHires(relay.store, row.tenant_id, ids.jobCandidateIds.filter(isSafeId));
  for (const hire of known.values()) {
    if (hire.state !== 'open' && hire.state !== 'done') continue;
    const ref = { tenantId: row.tenant_id, jobCandidateId: hire.job_candidate_id };
    if (await relay.signalHire(ref, 'person', { start: false })) continue;
    await addHints(relay.store, row.tenant_id, 'people', hire.job_id === null ? [] : [hire.job_id]);
    await askForReconcile(relay, row.tenant_id);
  }
}

/** Payloads of onboarding events are not shown in the specification: without an id that we know, the reconcile looks. */
async function signalOnboardings(relay: Relay, row: InboxRow, { ids }: WebhookEnvelope): Promise<void> {
  const tenantId = row.tenant_id;
  const byEnrolment = await hiresOfEnrolments(relay.store, tenantId, ids.onboardingCandidateIds);
  const byApplication = await latestHires(relay.store, tenantId, ids.jobCandidateIds.filter(isSafeId));
  const known = [...byEnrolment, ...byApplication.values()];
  for (const hire of known.filter((one) => one.state === 'open'))
    await relay.signalHire({ tenantId, jobCandidateId: hire.job_candidate_id }, 'onboarding', { start: true });
  // Nearly every hire ends with an event about an enrolment that is done: nobody waits for it, and a reconcile would find nothing.
  if (known.length === 0) await askForReconcile(relay, tenantId);
}

async function askForReconcile(relay: Relay, tenantId: string): Promise<void> {
  if (reconcileWaitMs(relay, tenantId) > 0) relay.reconcilesOwed.add(tenantId);
  else await reconcileNow(relay, tenantId);
}

/** Asks for the reconciles that came too close after another one, as soon as they may; at the end all of them. */
async function payReconciles(relay: Relay, all = false): Promise<void> {
  for (const tenantId of relay.reconcilesOwed)
    if (all || reconcileWaitMs(relay, tenantId) <= 0) await reconcileNow(relay, tenantId);
}

async function reconcileNow(
  { reconciledAt, reconcilesOwed, triggerReconcile }: Relay,
  tenantId: string,
): Promise<void> {
  reconciledAt.set(tenantId, performance.now());
  await triggerReconcile(tenantId);
  reconcilesOwed.delete(tenantId);
}

function reconcileWaitMs({ reconciledAt, reconcileGapMs }: Relay, tenantId: string): number {
  return (reconciledAt.get(tenantId) ?? Number.NEGATIVE_INFINITY) + reconcileGapMs - performance.now();
}

const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

function isUnavailable(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && (cause.code === UNAVAILABLE || cause.code === DEADLINE_EXCEEDED);
}

/** Asking the partner for its stages may fail as any call may; only a refusal is about the event itself. */
function isPartnerAway(error: unknown): boolean {
  return isConnectorError(error) && error.action !== 'reject';
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
