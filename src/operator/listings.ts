import { ConnectorError } from '../errors.ts';
import {
  type AuditFilter,
  type DeliveryPageFilter,
  findHires,
  type HirePageFilter,
  type HireSearch,
  type HoldFilter,
  listAudit,
  listDeliveriesPage,
  listHiresPage,
  listHoldsPage,
  readDelivery as readRow,
} from '../store/listings.ts';
import type { Store } from '../store/open-store.ts';
import type { AuditRow } from '../store/schema.ts';
import type { DeliveryView } from './deliveries.ts';
import { type HireView, viewHire } from './hires.ts';
import { type HoldView, viewHold } from './holds.ts';

/** Lists for paging: each row carries the place where the next page begins. */

export async function pageOfHolds(store: Store, filter: HoldFilter): Promise<(HoldView & { ageMs: number })[]> {
  const rows = await listHoldsPage(store, filter);
  return rows.map((row) => ({ ...viewHold(row), ageMs: Number(row.now) - Number(row.opened_at) }));
}

export async function pageOfHires(store: Store, filter: HirePageFilter): Promise<HireView[]> {
  return (await listHiresPage(store, filter)).map(viewHire);
}

/** The hires of the job candidate with this id, or else of the employee. */
export async function searchHires(
  store: Store,
  id: string,
  search: Omit<HireSearch, 'by' | 'id'>,
): Promise<HireView[]> {
  const found = await findHires(store, { ...search, by: 'job_candidate_id', id });
  const rows = found.length > 0 ? found : await findHires(store, { ...search, by: 'employee_id', id });
  return rows.map(viewHire);
}

const ID_LENGTH = 12;

export async function pageOfDeliveries(
  store: Store,
  filter: DeliveryPageFilter,
): Promise<(DeliveryView & { place: readonly [number, string] })[]> {
  const rows = await listDeliveriesPage(store, filter);
  return rows.map((row) => ({
    delivery: row.body_hash.slice(0, ID_LENGTH),
    tenantId: row.tenant_id,
    event: row.event,
    ids: JSON.parse(row.ids) as DeliveryView['ids'],
    state: row.state,
    receivedAt: iso(row.received_at),
    failures: row.failures,
    lastError: row.last_error,
    place: [Number(row.received_at), row.body_hash],
  }));
}

/** One delivery, with its body unless it was purged. @throws ConnectorError DELIVERY_UNKNOWN */
export async function readDelivery(
  store: Store,
  tenantId: string,
  delivery: string,
): Promise<DeliveryView & { body: string | undefined }> {
  const row = /^[0-9a-f]{12}$/.test(delivery) ? await readRow(store, tenantId, delivery) : undefined;
  if (row === undefined)
    throw new ConnectorError({
      code: 'DELIVERY_UNKNOWN',
      action: 'reject',
      message: `${tenantId} has no delivery ${delivery}. Webhooks are kept for 90 days.`,
    });
  return {
    delivery,
    tenantId,
    event: row.event,
    ids: JSON.parse(row.ids) as DeliveryView['ids'],
    state: row.state,
    receivedAt: iso(row.received_at),
    failures: row.failures,
    lastError: row.last_error,
    body: row.body === '' ? undefined : row.body,
  };
}

export interface ActView {
  at: string;
  by: string;
  /** The actor according to the system or the sign-in; null in rows of an earlier version. */
  actor: string | null;
  /** Kind and keyed hash of the one record that the act was about. */
  subject: string | null;
  /** Null for the whole fleet. */
  tenantId: string | null;
  act: AuditRow['act'];
  details: string | null;
}

/** Acts of people, latest first. */
export async function pageOfAudit(store: Store, filter: AuditFilter): Promise<ActView[]> {
  return (await listAudit(store, filter)).map(({ at, tenant_id: tenantId, ...row }) => {
    const { by, actor, subject, act, details } = row;
    return { at: iso(at), by, actor, subject, tenantId, act, details };
  });
}

function iso(at: number): string {
  return new Date(Number(at)).toISOString();
}
