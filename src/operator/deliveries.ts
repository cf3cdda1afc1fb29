import { rejected } from '../errors.ts';
import { age } from '../in-words.ts';
import { audit } from '../store/audit.ts';
import {
  type DeliveryFilter,
  listDeliveries as listRows,
  replayDeliveries as replayRows,
  retryDeliveries as retryRows,
  type StoredDelivery,
} from '../store/inbox.ts';
import { type DeliveryPageFilter, listDeliveriesPage, readDelivery as readRow } from '../store/listings.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { leftStates } from '../store/schema.ts';
import { isReasonOfHris, refusedSinceAccepted, type WebhookFacts } from '../store/webhook-refusals.ts';

/** A delivery for display: ids and states, never its body. */
export interface DeliveryView extends Omit<StoredDelivery, 'bodyHash' | 'receivedAt'> {
  /** The first characters of the body's hash. */
  delivery: string;
  receivedAt: string;
}

/** In the order in which a filter offers them. */
export const inboxStates = ['undeliverable', 'other-company', 'unknown', 'waiting', 'relayed', 'ignored'] as const;

const ID_LENGTH = 12;

export async function pageOfDeliveries(
  store: Store,
  filter: DeliveryPageFilter,
): Promise<(DeliveryView & { place: readonly [number, string] })[]> {
  const rows = await listDeliveriesPage(store, filter);
  return rows.map((row) => ({ ...viewRow(row), place: [Number(row.received_at), row.body_hash] }));
}

function viewRow(row: Awaited<ReturnType<typeof listDeliveriesPage>>[number]): DeliveryView {
  return {
    delivery: row.body_hash.slice(0, ID_LENGTH),
    tenantId: row.tenant_id,
    event: row.event,
    ids: JSON.parse(row.ids) as DeliveryView['ids'],
    state: row.state,
    receivedAt: new Date(Number(row.received_at)).toISOString(),
    failures: row.failures,
    lastError: row.last_error,
  };
}

/** One delivery, with its body unless it was purged. @throws ConnectorError DELIVERY_UNKNOWN */
export async function readDelivery(
  store: Store,
  tenantId: string,
  delivery: string,
): Promise<DeliveryView & { body: string | undefined }> {
  const row = /^[0-9a-f]{12}$/.test(delivery) ? await readRow(store, tenantId, delivery) : undefined;
  if (row === undefined)
    throw rejected('DELIVERY_UNKNOWN', `${tenantId} has no delivery ${delivery}. Webhooks are kept for 90 days.`);
  return { ...viewRow(row), body: row.body === '' ? undefined : row.body };
}

/** Latest first. */
export async function listDeliveries(store: Store, filter: DeliveryFilter): Promise<DeliveryView[]> {
  return (await listRows(store, filter)).map(({ bodyHash, receivedAt, ...row }) => ({
    delivery: bodyHash.slice(0, ID_LENGTH),
    ...row,
    receivedAt: new Date(receivedAt).toISOString(),
  }));
}

interface DeliveryRetry {
  /** A delivery as `inbox list` names it; if absent, all undeliverable ones. */
  delivery?: string | undefined;
  tenantId?: string | undefined;
  by: string;
}

/** Hands one delivery, or every undeliverable one, to the relay again. @throws ConnectorError DELIVERY_UNKNOWN */
export async function retryDeliveries(store: Store, { delivery, tenantId, by }: DeliveryRetry): Promise<number> {
  const states = delivery === undefined ? (['undeliverable'] as const) : leftStates;
  const count = await retryRows(store, { states, tenantId, hash: delivery });
  if (delivery !== undefined && count === 0)
    throw rejected(
      'DELIVERY_UNKNOWN',
      `No delivery ${delivery} can be retried. List those that can with: hirebridge inbox list`,
    );
  await audit(store, { by, tenantId, act: 'deliveries-retried', details: delivery ?? `${count} undeliverable` });
  return count;
}

interface Replay {
  tenantId: string;
  /** The first characters of its hash. */
  delivery?: string | undefined;
  by: string;
  /** Received at most `sinceMs` and at least `untilMs` milliseconds ago. */
  window?: { sinceMs: number; untilMs: number } | undefined;
}

/**
 * Hands stored deliveries to the relay once more, as if they had just arrived: the records they name are read again,
 * and finished work stays. Returns how many.
 * @throws ConnectorError DELIVERY_UNKNOWN
 */
export async function replayDeliveries(store: Store, { tenantId, delivery, window, by }: Replay): Promise<number> {
  const now = await readClock(store);
  const received = window && { from: now - window.sinceMs, to: now - window.untilMs };
  const count = await replayRows(store, { tenantId, hash: delivery, received });
  if (delivery === undefined || count > 0) {
    await audit(store, { by, tenantId, act: 'deliveries-replayed', details: delivery ?? `${count} of a window` });
    return count;
  }
  throw rejected(
    'DELIVERY_UNKNOWN',
    `${tenantId} has no delivery ${delivery} that could be replayed. ` +
      `List them with: hirebridge inbox list --tenant ${tenantId} --state relayed`,
  );
}

interface WebhookVerdict {
  state: 'ok' | 'warn' | 'fail';
  /** Says what happened, why, and the next step. */
  message: string;
}

const nextSteps: Record<string, string> = {
  WEBHOOK_KEY_WRONG:
    "the webhook key is not the tenant's: compare the key in the partner's dashboard with partner.webhookKeys",
  HRIS_WEBHOOK_FORGED:
    "the HR system's webhooks are signed by no key of hris.webhookKeys, or the clock here is minutes off: compare both",
  WEBHOOK_TOO_LARGE: 'they are larger than HIREBRIDGE_MAX_WEBHOOK_BYTES: raise it',
  STORE_UNAVAILABLE: 'the store does not accept them: check that its database runs',
};

function nextStepOf(reason: string): string {
  return (
    nextSteps[reason] ?? nextSteps[reason.replace(/^HRIS_/, '')] ?? `see the log of hirebridge serve for ${reason}`
  );
}

const DAY_MS = 86_400_000;

/** Judges by the latest deliveries: if webhooks never come or all are refused, only the reconcile finds changes. */
export function judgeWebhooks(tenantId: string, facts: WebhookFacts | undefined, now: number): WebhookVerdict {
  const ago = (at: number): string => `${age(now - at)} ago`;
  const accepted = facts?.acceptedAt ?? Number.NEGATIVE_INFINITY;
  const refused = refusedSinceAccepted(facts);
  if (refused !== undefined) {
    const why = nextStepOf(refused.reason);
    const count = `${refused.count} refused so far, the last ${ago(refused.lastAt)}`;
    const state = refused.isStray ? 'warn' : 'fail';
    return { state, message: `Webhooks of ${tenantId} are refused (${refused.reason}; ${count}): ${why}.` };
  }
  const other = facts?.otherCompanyAt;
  if (other !== undefined && other > accepted)
    return {
      state: 'fail',
      message:
        `Webhooks of ${tenantId} name a company other than partner.company in its file (the last ${ago(other)}). ` +
        'Correct partner.company, or the webhook address of that other company.',
    };
  const forged = facts?.refused.find(({ reason }) => isReasonOfHris(reason));
  if (forged !== undefined && now - forged.lastAt < DAY_MS)
    return {
      state: 'warn',
      message:
        `Webhooks of the HR system of ${tenantId} are refused, the last ${ago(forged.lastAt)}: ` +
        `${nextStepOf(forged.reason)}.`,
    };
  if (facts?.acceptedAt !== undefined)
    return { state: 'ok', message: `The last webhook was accepted ${ago(facts.acceptedAt)}.` };
  return {
    state: 'warn',
    message:
      `No webhook of the last 90 days is known for ${tenantId}; only the reconcile finds hires. Set the webhook ` +
      `address https://YOUR_HOST/webhooks/${tenantId} in the partner's dashboard, or write ` +
      '"webhooks: off" under partner in the tenant file.',
  };
}
