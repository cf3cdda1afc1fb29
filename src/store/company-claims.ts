import type { HireRef } from '../hire/hire-ref.ts';
import { hireOf } from './hire-columns.ts';
import { type Person, takeClaim } from './identity.ts';
import { siblingsOf } from './observed-hires.ts';
import type { Store } from './open-store.ts';

/** A person as a tenant that names its company knows them. */
export interface CompanyPerson extends Person {
  /** Companies of two environments, or of two servers, have nothing in common but their numbers. */
  environment: 'production' | 'sandbox';
  /** Scheme, host and port of the partner. */
  origin: string;
}

/**
 * Who may hire this person: another tenant of the company, in another HR system, has or gets their employee; or what
 * is known of them stands in the own HR system or is of this tenant; or nobody knows them.
 */
export type Standing = HireRef | 'ours' | 'free';

/**
 * Takes the right to be the one tenant of a company that hires this person, whatever its HR system. Returns the hire of
 * another tenant that has it.
 */
export async function claimInCompany(store: Store, person: CompanyPerson, key: HireRef): Promise<HireRef | undefined> {
  const standing = await readStanding(store, person, key.tenantId);
  if (standing === 'ours') return undefined;
  if (standing !== 'free') return standing;
  const taken = await takeClaim(store, { ...person, connection: ofCompany(person) }, key);
  return taken === undefined || taken.claim.tenant_id === key.tenantId ? undefined : hireOf(taken.claim);
}

export async function readStanding(store: Store, person: CompanyPerson, tenantId: string): Promise<Standing> {
  const known = await readKnown(store, person);
  if (known.some(({ connection }) => connection === person.connection)) return 'ours';
  const first = known.find(({ connection }) => connection === ofCompany(person));
  if (first !== undefined) return first.tenant_id === tenantId ? 'ours' : hireOf(first);
  // Imported, or made before there were claims on the company.
  const siblings = known.length === 0 ? [] : await siblingsOf(store, tenantId);
  const other = known.find((row) => siblings.includes(row.tenant_id));
  return other === undefined ? 'free' : hireOf(other);
}

/** What stands for the HR system in a claim that counts in all of a company's. */
function ofCompany({ environment, origin }: CompanyPerson): string {
  return `* ${environment} ${origin}`;
}

interface Known {
  connection: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
}

/** Every link and claim of this person, in whatever HR system. */
async function readKnown({ kysely }: Store, { partnerCompany, candidateId }: Person): Promise<Known[]> {
  const rows = (table: 'links' | 'claims') =>
    kysely
      .selectFrom(table)
      .select(['connection', 'tenant_id', 'job_candidate_id', 'period'])
      .where('partner_company', '=', partnerCompany)
      .where('candidate_id', '=', candidateId);
  // Where no hire holds the person, another tenant may be the one that hires them.
  return rows('links')
    .unionAll(rows('claims').where((eb) => eb.or([eb('how', 'is', null), eb('how', '=', 'removed')])))
    .execute();
}
