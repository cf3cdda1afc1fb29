export interface ClaimTable {
  connection: string;
  partner_company: string;
  candidate_id: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  claimed_at: number;
  /** How the person is known while no hire of ours holds them; null where one does. */
  how: RecordedHow | null;
  /** JSON of RecordedAs: a hire of this person that hirebridge did not make; it stays whoever holds the person. */
  recorded: string | null;
}

/**
 * Hired before go-live, while the tenant only observed, for a job that is not the tenant's, or into the HR system that
 * the tenant had before. `removed`: a tenant that was removed had sent the create, and nobody heard what became of it.
 */
export type RecordedHow = 'baseline' | 'observed' | 'passed-over' | 'other-hris' | 'removed';

export interface LinkTable {
  connection: string;
  employee_id: string;
  employee_number: string | null;
  partner_company: string;
  candidate_id: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  linked_at: number;
}

export interface IdentityLeaseTable {
  connection: string;
  /** A hash of an e-mail, or of name and birth date. */
  key: string;
  tenant_id: string;
  job_candidate_id: string;
  period: number;
  /** Until then nobody else of this key is created. */
  leased_until: number;
  /** One attempt; null from an older worker. */
  holder: string | null;
  /** Written by earlier versions only: the intents say whether a create waits for somebody over there. */
  pending_since: number | null;
}
