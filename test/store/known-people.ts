import { employeeIn, type HireRef } from '../../src/hire/hire.ts';
import type { Candidate, Employed, EmployedHow, HoldDecisions } from '../../src/person/person.ts';
import type { Store } from '../../src/store/open-store.ts';
import { changePerson, findPerson, type Outcome } from '../../src/store/persons.ts';

/** A candidate of company 17 as a person of an HR system. */
export interface Who {
  connection: string;
  candidate: Candidate;
}

export function who(candidateId: string, connection = 'hr', company = '17'): Who {
  return { connection, candidate: { company, candidateId } };
}

/** A hire asks for its person. */
export function holdPerson(
  store: Store,
  whose: Who,
  hire: HireRef,
  { company, ...decided }: HoldDecisions & { company?: string } = {},
): Promise<Outcome> {
  return changePerson(store, whose, { kind: 'hold', hire, decided, isUnderWay: false, company });
}

/** The person is this employee, and the hire has them where it is open. */
export function linkPerson(
  store: Store,
  { connection, candidate }: Who,
  hire: HireRef,
  { id, number = null, how = 'made' }: { id: string; number?: string | null; how?: EmployedHow },
): Promise<Outcome> {
  const is = { employee: employeeIn(connection, id), number };
  const event = { kind: 'link', hire, candidate, is, how, shownAfterMs: 0 } as const;
  return changePerson(store, { connection, candidate }, event);
}

/** What is known of an employee; undefined where nobody is linked. */
export async function employedAs(store: Store, connection: string, id: string): Promise<Employed | undefined> {
  const { employees } = await findPerson(store, { employee: employeeIn(connection, id) });
  return employees.find((one) => one.employee.id === id);
}

/** Nobody is known any more, as after a go-live with a new store. */
export async function forgetPeople({ kysely }: Store): Promise<void> {
  await kysely.deleteFrom('person_keys').execute();
  await kysely.deleteFrom('persons').execute();
}
