import type { Employee, HireRef } from '../hire/hire.ts';

/** A candidate: a person as the partner knows them. */
export interface Candidate {
  /** The company at the partner, or the tenant if it names no company. */
  company: string;
  candidateId: string;
}

/** A person in one HR system: everything known about who they are, no matter which tenant asks. */
export interface Person {
  id: string;
  /** Name of the connection to the HR system; tenants may share one. */
  connection: string;
  /** Counts every change; 0 for a person of whom nothing is known. */
  version: number;
  /** Several candidates if somebody said that they are one human. */
  candidates: readonly Candidate[];
  /** The one hire that may look up, make or link their employee. */
  owner: HireRef | undefined;
  /** The owner's tenant was removed, and the outcome of the create it sent is unknown. */
  isAbandoned: boolean;
  /** A hire of this person that hirebridge did not make; it stays, no matter which hire owns them. */
  recorded: Recorded | undefined;
  /** Companies at the partner in whose HR systems no other hire may take the person unless somebody allows it. */
  companies: readonly {
    /** Names the partner's server and environment. */
    scope: string;
    candidate: Candidate;
  }[];
  /** Newest first. */
  employees: readonly Employed[];
  /** Keys that identify the person while an employee is being made for them. */
  creating: readonly Creating[];
}

/** One employee that the person is. */
export interface Employed {
  employee: Employee;
  /** The employee number people use; null until the HR system assigns one. */
  number: string | null;
  /** The candidate at the partner now. */
  candidate: Candidate;
  /** The hire that has the employee now; for an import, no real hire (`IMPORTED_PERIOD`). */
  hire: HireRef;
  how: EmployedHow;
  /** Milliseconds on the database's clock. */
  since: number;
}

/** made: by our create. linked: existed and was found or named. imported: from a list. */
export type EmployedHow = 'made' | 'linked' | 'imported';

/**
 * Hired before go-live, while the tenant only observed, for a job outside the tenant's scope, or into the tenant's
 * former HR system. `removed` and `cancelled`: the tenant was removed, or the hire cancelled, after it sent the create,
 * and the outcome is unknown.
 */
export type RecordedHow = 'baseline' | 'observed' | 'passed-over' | 'other-hris' | 'removed' | 'cancelled';

/** The person may be an employee that hirebridge does not know. */
export interface Recorded extends HireRef {
  how: RecordedHow;
}

/** A key for which no other hire may make an employee in the meantime. */
export interface Creating {
  /** Hash of an e-mail, or of name and birth date. */
  key: string;
  hire: HireRef;
  /** Names one attempt, so that an attempt that was stalled cannot end what a later attempt holds. */
  holder: string;
  /** Milliseconds on the database's clock; lasts longer while the hire's create is unsettled. */
  until: number;
}

/** A person of whom nothing is known. */
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

/** Only candidate ids are left, so there is nothing to keep. */
export function isUnknown({ owner, recorded, employees, creating }: Person): boolean {
  return owner === undefined && recorded === undefined && employees.length === 0 && creating.length === 0;
}

export function isSameCandidate(one: Candidate, other: Candidate): boolean {
  return one.company === other.company && one.candidateId === other.candidateId;
}
