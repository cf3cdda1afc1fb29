import { sql } from 'kysely';
import type { Store } from './open-store.ts';

/**
 * A tenant that named no company is its own company in claims and links. Once it names one, they follow, so that nobody
 * it hired before is taken for a stranger. A claim that another tenant holds on the same person stays as it is.
 */
export async function nameCompany({ kysely }: Store, tenantId: string, company: string): Promise<void> {
  const unnamed = { tenant_id: tenantId, partner_company: tenantId };
  await kysely
    .updateTable('links')
    .set({ partner_company: company })
    .where((eb) => eb.and(unnamed))
    .execute();
  await kysely
    .updateTable('claims')
    .set({ partner_company: company })
    .where((eb) => eb.and(unnamed))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('claims as held')
            .select(sql.lit(1).as('one'))
            .whereRef('held.connection', '=', 'claims.connection')
            .whereRef('held.candidate_id', '=', 'claims.candidate_id')
            .where('held.partner_company', '=', company),
        ),
      ),
    )
    .execute();
}
