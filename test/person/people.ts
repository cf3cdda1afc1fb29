import { type Employee, employeeIn, type HireRef } from '../../src/hire/hire.ts';
import {
  type Candidate,
  type Changed,
  changePerson,
  type Employed,
  type Facts,
  type HireFacts,
  type Person,
  type PersonEvent,
  unknownPerson,
} from '../../src/person/person.ts';

export const hireOf = (jobCandidateId: string, tenantId = 'acme', period = 1): HireRef => ({
  tenantId,
  jobCandidateId,
  period,
});
export const ada: Candidate = { company: '17', candidateId: '88' };
export const inHr = (id: string): Employee => employeeIn('hr', id);

/** A person of the HR system `hr`, known by this much. */
export function person(known: Partial<Person> = {}, candidate = ada): Person {
  return { ...unknownPerson(`p${candidate.candidateId}`, 'hr', [candidate]), ...known };
}

export function employed(id: string, hire: HireRef, more: Partial<Employed> = {}): Employed {
  return { employee: inHr(id), number: null, candidate: ada, hire, how: 'made', since: 1, ...more };
}

export const OPEN: HireFacts = { isOpen: true, isDone: false, isServed: true, employee: undefined };

/** What an event comes to; the hire that tells of it is open where nothing else is said. */
export function change(
  subject: Person,
  event: PersonEvent,
  { others = [], ...facts }: Partial<Facts> & { others?: readonly Person[] } = {},
): Changed {
  return changePerson({ subject, others }, event, { now: 100, hire: OPEN, unsettled: () => undefined, ...facts });
}

/** The person as they are afterwards. @throws where it is refused */
export function after(...given: Parameters<typeof change>): Person {
  const changed = change(...given);
  if (changed.kind === 'refused') throw new Error(`refused: ${changed.refusal.reason}`);
  return changed.people.subject;
}
