import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { insertHires } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { listApplicants } from '../harness/world-people.ts';
import type { OpenSandbox } from '../sandbox/open-sandbox.ts';
import { linkPerson, who } from '../store/known-people.ts';
import type { Staff } from './staff.ts';

/** A linked pair. */
export interface Person {
  employeeId: string;
  candidateId: string;
  jobCandidateId: string;
  enrolment: string;
}

/** People who were hired long ago: enrolled at the partner, employed over there, linked. */
export async function employLongAgo(
  { sandbox, store, staff }: { sandbox: OpenSandbox; store: Store; staff: Staff },
  count: number,
): Promise<Person[]> {
  const applicants = (await listApplicants(sandbox.partner)).slice(0, count);
  const employees = await staff.add(count);
  const enrolments = await enrol(sandbox.partner, count);
  const people = applicants.map(({ candidateId, jobCandidateId }, n) => ({
    employeeId: employees[n] ?? '',
    candidateId: String(candidateId),
    jobCandidateId: String(jobCandidateId),
    enrolment: enrolments[n] ?? '',
  }));
  if (people.length < count) throw new Error(`Only ${people.length} people have applied.`);
  const numbers = await readNumbers(staff);
  for (const person of people) await link(store, person, numbers.get(person.employeeId) ?? null);
  return people;
}

async function enrol(partner: PartnerClient, count: number): Promise<string[]> {
  const [flow] = (await partner.readAll(contract.onboarding.listFlows)).items;
  const params = { flowId: flow?.flowId ?? '' };
  const all = Array.from({ length: count }, (_, n) => ({
    firstName: 'Ana',
    lastName: `Reyes ${n}`,
    email: `p${n}@example.org`,
    externalRef: `hirebridge:${n}:1`,
  }));
  const ids = new Map<string, string>();
  for (let from = 0; from < count; from += 100) {
    const body = { candidates: all.slice(from, from + 100) };
    const { items } = await partner.readAll(contract.onboarding.enrolBulk, { params, body });
    for (const { externalRef, onboardingCandidateId } of items) ids.set(String(externalRef), onboardingCandidateId);
  }
  return all.map(({ externalRef }) => ids.get(externalRef) ?? '');
}

/** Of everybody: asked for one by one they would take longer than all that is tested. */
async function readNumbers({ hris }: Staff): Promise<Map<string, string>> {
  const numbers = new Map<string, string>();
  let next: string | undefined;
  for (let more = true; more; ) {
    const page = await hris.changes?.since(next, AbortSignal.timeout(120_000));
    for (const { ref } of page?.employees ?? []) if (ref.number !== undefined) numbers.set(ref.id, ref.number);
    next = page?.next;
    more = page?.more ?? false;
  }
  return numbers;
}

async function link(store: Store, person: Person, number: string | null): Promise<void> {
  const { jobCandidateId, candidateId, employeeId: id, enrolment } = person;
  const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
  await insertHires(store, [{ ...ref, candidateId, jobId: '1', state: 'open' }]);
  await store.kysely
    .updateTable('hires')
    .set({ state: 'done', employee_id: id, employee_number: number, onboarding_candidate_id: enrolment })
    .where('job_candidate_id', '=', jobCandidateId)
    .execute();
  await linkPerson(store, who(candidateId), ref, { id, number, how: 'linked' });
}
