import { IMPORTED_PERIOD } from '../hire/hire-ref.ts';
import { audit } from './audit.ts';
import { linkEmployee, type Person } from './identity.ts';
import type { Store } from './open-store.ts';

/** A person who is an employee already. */
export interface ImportedLink {
  person: Person;
  employee: { id: string; number: string | null };
}

/** No hire is behind an imported link. */
const NO_HIRE = { jobCandidateId: '', period: IMPORTED_PERIOD };

/** Whether a hire holds the claim on this person: it is about to find or make their employee itself. */
export async function isClaimed({ kysely }: Store, person: Person): Promise<boolean> {
  const claim = await kysely
    .selectFrom('claims')
    .select('tenant_id')
    .where('connection', '=', person.connection)
    .where('partner_company', '=', person.partnerCompany)
    .where('candidate_id', '=', person.candidateId)
    .where('how', 'is', null)
    .executeTakeFirst();
  return claim !== undefined;
}

/** Writes all of these or none. False when one of the employees was linked to somebody else meanwhile. */
export async function importLinks(
  store: Store,
  { tenantId, by, details }: { tenantId: string; by: string; details: string },
  links: readonly ImportedLink[],
): Promise<boolean> {
  return store.kysely
    .transaction()
    .execute(async (kysely) => {
      const trx = { ...store, kysely };
      for (const { person, employee } of links) {
        const row = await linkEmployee(trx, person, { tenantId, ...NO_HIRE }, employee);
        if (row.candidate_id !== person.candidateId || row.partner_company !== person.partnerCompany) throw TAKEN;
      }
      await audit(trx, { by, tenantId, act: 'linked', details });
      return true;
    })
    .catch((error: unknown) => {
      if (error === TAKEN) return false;
      throw error;
    });
}

/** Undoes the transaction. */
const TAKEN = new Error('an employee was linked meanwhile');
