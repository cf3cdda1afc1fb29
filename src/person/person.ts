import type { Employee } from '../hire/employee.ts';
import type { HireRef } from '../hire/hire.ts';

/** Somebody as the partner knows them. */
export interface Candidate {
  /** The partner's company, or the tenant where that names none. */
  company: string;
  candidateId: string;
}

/** A person of one HR system: everything that is known of who somebody is, whichever tenant asks. */
export interface Person {
  id: string;
  /** The HR system, by the name of its connection; tenants may share one. */
  connection: string;
  /** Counts every change; 0 of somebody of whom nothing is known. */
  version: number;
  /** Several where somebody said that they are one human. */
  candidates: readonly Candidate[];
  /** The one hire that may look up, make or link their employee. */
  owner: HireRef | undefined;
  /** The owner's tenant was removed, and nobody knows what became of the create that it had sent. */
  isAbandoned: boolean;
  /** A hire of theirs that hirebridge did not make; it stays, whoever owns them. */
  recorded: Recorded | undefined;
  /** Companies of the partner in whose HR systems nobody else may hire them without a person's word. */
  companies: readonly OfCompany[];
  /** The newest first. */
  employees: readonly Employed[];
  /** What identifies them while an employee of theirs is being made. */
  creating: readonly Creating[];
}

/** A candidate in all HR systems of a company. */
interface OfCompany {
  /** Names the company's server and environment. */
  scope: string;
  candidate: Candidate;
}

/** One employee that the person is. */
export interface Employed {
  employee: Employee;
  /** The human employee number; absent until the HR system gave one. */
  number: string | null;
  /** As the partner knows them now. */
  candidate: Candidate;
  /** The hire that has the employee now; of an import, none (`IMPORTED_PERIOD`). */
  hire: HireRef;
  how: EmployedHow;
  /** Milliseconds on the database's clock. */
  since: number;
}

/** made: by our create. linked: it was there, and was found or named. imported: by a list. */
export type EmployedHow = 'made' | 'linked' | 'imported';

/**
 * Hired before go-live, while the tenant only observed, for a job that is not the tenant's, or into the HR system that
 * the tenant had before. `removed`: a tenant that was removed had sent the create, and nobody heard what became of it.
 */
export type RecordedHow = 'baseline' | 'observed' | 'passed-over' | 'other-hris' | 'removed';

/** The person may be an employee whom hirebridge does not know. */
export interface Recorded extends HireRef {
  how: RecordedHow;
}

/** Nobody else of this key is made meanwhile. */
export interface Creating {
  /** A hash of an e-mail, or of name and birth date. */
  key: string;
  hire: HireRef;
  /** One attempt; one that stood still must not end what a later one has. */
  holder: string;
  /** Milliseconds on the database's clock; it lasts longer while the hire's create is unsettled. */
  until: number;
}

/** Somebody of whom nothing is known. */
export function unknownPerson(id: string, connection: string, candidates: readonly Candidate[]): Person {
  return {
    id,
    connection,
    version: 0,
    candidates,
    owner: undefined,
    isAbandoned: false,
    recorded: undefined,
    companies: [],
    employees: [],
    creating: [],
  };
}

/** Nothing but candidate ids is left: there is nothing to remember. */
export function isUnknown({ owner, recorded, employees, creating }: Person): boolean {
  return owner === undefined && recorded === undefined && employees.length === 0 && creating.length === 0;
}

export function isSameCandidate(one: Candidate, other: Candidate): boolean {
  return one.company === other.company && one.candidateId === other.candidateId;
}
