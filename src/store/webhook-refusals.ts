import type { Store } from './open-store.ts';

export interface WebhookRefusal {
  tenantId: string;
  /** Code of the refusal. */
  reason: string;
  count: number;
}

/** Adds to what was refused so far: one row for each tenant and reason, however many deliveries there are. */
export async function addWebhookRefusals(store: Store, refusals: readonly WebhookRefusal[]): Promise<void> {
  if (refusals.length === 0) return;
  const row = ({ tenantId, reason, count }: WebhookRefusal) => ({
    tenant_id: tenantId,
    reason,
    count,
    last_at: store.now,
  });
  await store.kysely
    .insertInto('webhook_refusals')
    .values(refusals.map(row))
    .onConflict((c) =>
      c.columns(['tenant_id', 'reason']).doUpdateSet((eb) => ({
        count: eb('webhook_refusals.count', '+', eb.ref('excluded.count')),
        last_at: eb.ref('excluded.last_at'),
      })),
    )
    .execute();
}

/** What a tenant's webhooks came to: the last one stored, and what was refused, by reason. */
export interface WebhookFacts {
  tenantId: string;
  /** When the last delivery of this company was stored, ms on the database's clock. */
  acceptedAt?: number;
  /** When the last one that names another company was. */
  otherCompanyAt?: number;
  /** The reason met last first. */
  refused: { reason: string; count: number; lastAt: number }[];
}

/** Only tenants that anything was sent for. */
export async function readWebhookFacts(store: Store): Promise<Map<string, WebhookFacts>> {
  const [stored, refused] = await Promise.all([
    store.kysely
      .selectFrom('inbox')
      .select(['tenant_id', 'state', (eb) => eb.fn.max<number>('received_at').as('last_at')])
      .groupBy(['tenant_id', 'state'])
      .execute(),
    store.kysely.selectFrom('webhook_refusals').selectAll().orderBy('last_at', 'desc').execute(),
  ]);
  const ids = new Set([...stored, ...refused].map((row) => row.tenant_id));
  const latest = (rows: typeof stored): number | undefined =>
    rows.length === 0 ? undefined : Math.max(...rows.map((row) => Number(row.last_at)));
  return new Map(
    [...ids].map((tenantId) => {
      const own = stored.filter((row) => row.tenant_id === tenantId);
      const acceptedAt = latest(own.filter((row) => row.state !== 'other-company'));
      const otherCompanyAt = latest(own.filter((row) => row.state === 'other-company'));
      const facts: WebhookFacts = {
        tenantId,
        ...(acceptedAt === undefined ? {} : { acceptedAt }),
        ...(otherCompanyAt === undefined ? {} : { otherCompanyAt }),
        refused: refused
          .filter((row) => row.tenant_id === tenantId)
          .map((row) => ({ reason: row.reason, count: Number(row.count), lastAt: Number(row.last_at) })),
      };
      return [tenantId, facts];
    }),
  );
}
