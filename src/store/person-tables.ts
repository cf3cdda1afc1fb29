import type { EmployedHow } from '../person/person.ts';

/** A person of one HR system: see `Person`. What names them stands in `person_keys`. */
export interface PersonTable {
  person_id: string;
  connection: string;
  version: number;
  /** The hire that owns them; null where none does. */
  tenant_id: string | null;
  job_candidate_id: string | null;
  period: number | null;
  /** 1: the owner's tenant was removed, and its create is unsettled. */
  is_abandoned: number;
  /** JSON of Recorded. */
  recorded: string | null;
}

/**
 * What names a person, each in one HR system; `company`: in all those of a company of the partner, for the one person
 * whom its tenants may hire. A key is one person's.
 */
export interface PersonKeyTable {
  /** The connection of the HR system, or the partner's server and environment. */
  scope: string;
  kind: 'candidate' | 'company' | 'employee' | 'creating';
  /** `<company>:<candidate>`, the employee's id, or a hash of what identifies somebody who is being made. */
  value: string;
  person_id: string;
  /** The candidate; of an employee, the one that the partner knows them as now. */
  company: string | null;
  candidate_id: string | null;
  /** The hire that has the employee, or makes them. */
  tenant_id: string | null;
  job_candidate_id: string | null;
  period: number | null;
  employee_number: string | null;
  how: EmployedHow | null;
  /** The attempt that makes them. */
  holder: string | null;
  /** Since when they are linked, or until when nobody else of the key is made. */
  at: number | null;
}
