import type { EmployeeFields } from '../../src/hire/hire.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { StoreDouble } from '../simulation/store-double.ts';

/** A linked candidate and employee; or the job in place of the one, and the open position in place of the other. */
export interface Person {
  candidateId: string;
  jobCandidateId: string;
  employeeId: string;
}

/** A request of a person at the partner, carried out at once. */
export type Call = (method: string, path: string, body?: unknown) => Record<string, unknown>;

/** What differs between the kinds of records that a world exchanges. */
export interface Records {
  add: (nth: number, now: number) => Promise<Person>;
  editHris: (person: Person, fields: EmployeeFields) => Promise<void>;
  readHris: (person: Person) => Promise<EmployeeFields | undefined>;
  /** The partner's own record. */
  readPartner: (person: Person) => Record<string, unknown>;
  removePartner: (person: Person) => void;
}

interface Ends {
  call: Call;
  state: SandboxState;
  store: StoreDouble;
  hris: HrisConnection;
}

const PLACE = { city: 'Berlin', state: '', country: 'DE', status: 'ACTIVE' };

export function atOnce(): { signal: AbortSignal; beforeSend: () => void } {
  return { signal: new AbortController().signal, beforeSend: () => undefined };
}

/** Candidates who were hired. */
export function people({ call, state, hris, store }: Ends): Records {
  const job = call('POST', '/jobs', { title: 'Engineer', ...PLACE });
  return {
    async add(nth, now) {
      const profile = { firstName: 'Ada', lastName: `Number ${nth}`, email: `ada${nth}@example.com`, country: 'DE' };
      const parsed = { city: 'Berlin', shouldParseResume: false, educations: [], workExperiences: [] };
      const added = call('POST', '/candidates', { ...profile, ...parsed, jobId: job['id'] });
      const employeeId = await createEmployee(hris, nth, `1:${String(added['id'])}`);
      const person = { candidateId: String(added['id']), jobCandidateId: String(added['jobCandidateId']), employeeId };
      linkPerson(store, person, now);
      return person;
    },
    editHris: ({ employeeId }, fields) => hris.employees.update(employeeId, fields, atOnce()),
    readHris: async ({ employeeId }) => (await hris.employees.read(employeeId, atOnce().signal))?.fields,
    readPartner: ({ candidateId }) => call('GET', `/candidates/${candidateId}`),
    // The specification deletes applications; a company may delete a person all the same.
    removePartner: ({ jobCandidateId, candidateId }) => {
      call('DELETE', `/job-candidates/${jobCandidateId}`);
      state.run('delete from candidates where id = ?', Number(candidateId));
    },
  };
}

/** As a finished hire leaves it. */
export function linkPerson(store: StoreDouble, { candidateId, jobCandidateId, employeeId }: Person, now: number): void {
  const key = `insert into person_keys (scope, kind, value, person_id, company, candidate_id, tenant_id,
    job_candidate_id, period, how, at) values ('acme-hr', ?, ?, ?, '1', ?, 'acme', ?, 1, 'made', ?)`;
  store.all(
    `insert into persons (person_id, connection, version, is_abandoned) values (?, 'acme-hr', 1, 0)`,
    candidateId,
  );
  store.all(key, 'candidate', `1:${candidateId}`, candidateId, candidateId, jobCandidateId, now);
  store.all(key, 'employee', employeeId, candidateId, candidateId, jobCandidateId, now);
}

/** Jobs that were made of open positions; these stand in the table of employees, to which this adapter can add. */
export function positions({ call, state, hris, store }: Ends): Records {
  return {
    async add(nth) {
      const job = call('POST', '/jobs', { title: `Position ${nth}`, ...PLACE });
      const person = {
        candidateId: String(job['id']),
        jobCandidateId: '',
        employeeId: await createEmployee(hris, nth, `ref-${nth}`),
      };
      store.all(
        `insert into requisitions (tenant_id, requisition_id, state, attempt, job_id)
          values ('acme', ?, 'created', 1, ?)`,
        person.employeeId,
        person.candidateId,
      );
      return person;
    },
    editHris: async ({ employeeId }, fields) => hris.requisitions?.update(employeeId, fields, atOnce()),
    readHris: async ({ employeeId }) => (await hris.requisitions?.read([employeeId], atOnce().signal))?.[0]?.fields,
    readPartner: () => ({}),
    removePartner: ({ candidateId }) => state.run('delete from jobs where id = ?', Number(candidateId)),
  };
}

async function createEmployee(hris: HrisConnection, nth: number, reference: string): Promise<string> {
  const name = { givenName: 'Ada', familyName: `Number ${nth}`, email: `ada${nth}@example.com` };
  const made = await hris.employees.create({ ...name, startDate: '2026-02-01' }, reference, atOnce());
  return made.kind === 'created' ? made.ref.id : '';
}
