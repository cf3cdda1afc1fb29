import type { EmployedHow } from '../person/person.ts';

/** A person in one HR system: see `Person`. Their keys are in `person_keys`. */
export interface PersonTable {
  person_id: string;
  connection: string;
  version: number;
  /** The hire that owns them; null if none does. */
  tenant_id: string | null;
  job_candidate_id: string | null;
  period: number | null;
  /** 1: the owner's tenant was removed while its create was unsettled. */
  is_abandoned: number;
  /** JSON of Recorded. */
  recorded: string | null;
}

/**
 * A key of a person in one HR system; `company` keys hold in all HR systems of a company of the partner, for the one
 * person whom its tenants may hire. A key belongs to one person.
 */
export interface PersonKeyTable {
  /** The connection of the HR system, or the partner's server and environment. */
  scope: string;
  kind: 'candidate' | 'company' | 'employee' | 'creating';
  /** `<company>:<candidate>`, the employee's id, or a hash of what identifies a person whose employee is being made. */
  value: string;
  person_id: string;
  /** The candidate; for an employee, their current candidate at the partner. */
  company: string | null;
  candidate_id: string | null;
  /** The hire that has the employee, or is making it. */
  tenant_id: string | null;
  job_candidate_id: string | null;
  period: number | null;
  employee_number: string | null;
  how: EmployedHow | null;
  /** The attempt that is making it. */
  holder: string | null;
  /** Since when they are linked, or until when no other employee is made under this key. */
  at: number | null;
}
