import type { Receives } from './applied-tenants.ts';
import { HRIS_CHANGED, IS_LEFT } from './inbox.ts';
import { given, type Store } from './open-store.ts';

interface WebhookRefusal {
  tenantId: string;
  /** Code of the refusal. */
  reason: string;
  count: number;
}

/** Counts refused deliveries: one row for each tenant and reason, however many deliveries there are. */
export async function addWebhookRefusals(store: Store, refusals: readonly WebhookRefusal[]): Promise<void> {
  if (refusals.length === 0) return;
  await store.kysely
    .insertInto('webhook_refusals')
    .values(refusals.map(({ tenantId, ...refusal }) => ({ tenant_id: tenantId, ...refusal, last_at: store.now })))
    .onConflict((c) =>
      c.columns(['tenant_id', 'reason']).doUpdateSet((eb) => ({
        count: eb('webhook_refusals.count', '+', eb.ref('excluded.count')),
        last_at: eb.ref('excluded.last_at'),
      })),
    )
    .execute();
}

/** The state of a tenant's webhooks: the last stored delivery, and refused ones by reason. */
export interface WebhookFacts {
  tenantId: string;
  /** What its applied file says; absent if none is applied. */
  setting?: Receives['webhooks'];
  /** When the partner's last delivery for this company was stored, ms by the database's clock. */
  acceptedAt?: number;
  /** When the last delivery that names another company was stored. */
  otherCompanyAt?: number;
  /** Latest reason first. */
  refused: { reason: string; count: number; lastAt: number }[];
}

/** For tenants that are applied or had a delivery refused: for these, or for all. */
export async function readWebhookFacts(
  store: Store,
  tenantIds?: readonly string[],
): Promise<Map<string, WebhookFacts>> {
  const [stored, refused] = await Promise.all([
    readLatest(store, tenantIds),
    store.kysely
      .selectFrom('webhook_refusals')
      .select(['tenant_id', 'reason', 'count', 'last_at as lastAt'])
      .$call(given({ tenant_id: tenantIds }))
      .orderBy('last_at', 'desc')
      .execute(),
  ]);
  const refusals = Map.groupBy(refused, (row) => row.tenant_id);
  const latest = new Map(stored.map(({ tenantId, ...times }) => [tenantId, times]));
  const ids = new Set([...latest.keys(), ...refusals.keys()]);
  return new Map(
    [...ids].map((tenantId) => {
      const reasons = (refusals.get(tenantId) ?? []).map(({ tenant_id: _of, ...refusal }) => refusal);
      return [tenantId, { tenantId, ...latest.get(tenantId), refused: reasons }];
    }),
  );
}

/** A few index steps for each tenant: the inbox is too large to read for this. */
async function readLatest(
  { kysely }: Store,
  tenantIds: readonly string[] | undefined,
): Promise<Omit<WebhookFacts, 'refused'>[]> {
  const rows = await kysely
    .selectFrom('tenants')
    .select((eb) => {
      const own = eb
        .selectFrom('inbox')
        .select('received_at')
        .whereRef('inbox.tenant_id', '=', 'tenants.tenant_id')
        .orderBy('received_at', 'desc')
        .limit(1);
      return [
        'tenants.tenant_id',
        'tenants.state',
        'tenants.receives',
        own.where('inbox.state', '!=', 'other-company').where('inbox.event', '!=', HRIS_CHANGED).as('accepted_at'),
        own.where(IS_LEFT).where('inbox.state', '=', 'other-company').as('other_company_at'),
      ];
    })
    .$call(given({ tenant_id: tenantIds }))
    .execute();
  return rows.map(({ tenant_id: tenantId, accepted_at: acceptedAt, other_company_at: otherCompanyAt, ...row }) => ({
    tenantId,
    ...(row.receives === null ? {} : { setting: settingOf(row.state, row.receives) }),
    ...(acceptedAt === null ? {} : { acceptedAt }),
    ...(otherCompanyAt === null ? {} : { otherCompanyAt }),
  }));
}

function settingOf(state: string, receives: string): Receives['webhooks'] {
  return state === 'removed' ? 'off' : (JSON.parse(receives) as Receives).webhooks;
}

/** A refusal sooner after an accepted delivery proves little: anybody can send rubbish. */
const STRAY_MS = 3_600_000;

/** The latest refusal of the partner's webhooks, unless one was accepted since. */
export function refusedSinceAccepted(facts: WebhookFacts | undefined) {
  const accepted = facts?.acceptedAt ?? Number.NEGATIVE_INFINITY;
  const refused = facts?.refused.find(({ reason }) => !isReasonOfHris(reason));
  if (refused === undefined || refused.lastAt <= accepted) return undefined;
  return { ...refused, isStray: refused.lastAt - accepted <= STRAY_MS };
}

/** Whether a reason concerns the HR system's webhooks, not the partner's. */
export function isReasonOfHris(reason: string): boolean {
  return reason.startsWith('HRIS_');
}
