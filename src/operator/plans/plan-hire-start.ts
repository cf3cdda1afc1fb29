import { foreseeClaim } from '../../../activities/hire/claim-person.ts';
import { enrolmentReference } from '../../../activities/hire/hire-references.ts';
import { newValues } from '../../../activities/hire/note-writes.ts';
import { pinnedMapping } from '../../../activities/hire/pinned-mapping.ts';
import { knownPerson, observe } from '../../../activities/hire/plan-employee.ts';
import type { HireContext } from '../../../activities/hire/with-hire.ts';
import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
import type { Change } from '../../hire/change.ts';
import type { HireRef } from '../../hire/hire-ref.ts';
import type { Held } from '../../hire/holds.ts';
import { evaluateMapping } from '../../mapping/evaluate.ts';
import type { Mapping } from '../../mapping/load-mapping.ts';
import { planEmployee } from '../../plan/plan-employee.ts';
import { planEnrolment } from '../../plan/plan-enrolment.ts';
import { withKnownTables } from '../../streams/with-tables.ts';
import { patiently } from '../open-tenant.ts';
import { sourcesOf, unknownRecord } from './hire-sources.ts';
import type { HireWrites, PlannedRecord } from './plan-view.ts';

/** What an open hire without an employee is going to write: the enrolment, the employee, and the ID back. */
export async function planHireStart(hire: HireContext): Promise<HireWrites> {
  const mapping = await withKnownTables(hire.store, hire.ref.tenantId, await pinnedMapping(hire));
  const employee = await planPerson(hire, mapping);
  const notes = employee.hold === undefined ? [] : [employee.hold];
  const writes = [...enrolmentOf(hire), ...(employee.write === undefined ? [] : [employee.write])];
  return { mappingHash: mapping.hash, writes, notes };
}

function enrolmentOf({ connection, row, ref, decisions }: HireContext): PlannedRecord[] {
  if (row.onboarding_candidate_id !== null) return [];
  const plan = planEnrolment(connection.tenant.policies.onboarding, decisions);
  if (plan.kind !== 'enrol') return [];
  return [
    {
      record: ref.jobCandidateId,
      target: 'enrolment',
      kind: 'create',
      why: 'the tenant onboards before the employee is made; costs one credit',
      changes: newValues({ flowId: plan.flowId, externalRef: enrolmentReference(ref, row.enrolment) }),
      sensitive: [],
    },
  ];
}

interface PlannedPerson {
  write?: PlannedRecord;
  hold?: HireWrites['notes'][number];
}

async function planPerson(hire: HireContext, mapping: Mapping): Promise<PlannedPerson> {
  const { connection, ref, decisions } = hire;
  const [fetched] = await patiently(() => fetchJobCandidates(connection, [ref.jobCandidateId]));
  const record = fetched?.jobCandidate;
  if (record === undefined) throw unknownRecord(ref.jobCandidateId, fetched?.unreadable);
  const sources = await sourcesOf(hire, record);
  const { fields, problems } = evaluateMapping(mapping, sources);
  const claimed = await foreseeClaim(hire, record.candidateId);
  if (claimed.verdict === 'hold') return heldAs(ref, claimed);
  const { candidateId } = record;
  const known = knownPerson(hire, { candidateId, job: sources['job'], fields, problems, mapping }, claimed.before);
  const change = planEmployee(await observe(hire, known), decisions);
  if ('verdict' in change) return heldAs(ref, change);
  return { write: employeeWrite(ref.jobCandidateId, change, mapping) };
}

function heldAs({ jobCandidateId }: HireRef, { hold }: Held): PlannedPerson {
  return { hold: { record: jobCandidateId, what: `hold ${hold.code}`, reason: hold.message } };
}

const WHY: Record<Change['kind'], string> = {
  create: 'the person is not in the HR system',
  link: 'the person is in the HR system already',
  rehire: 'the person is a former employee',
  update: 'the person has an employee from an earlier job',
};

function employeeWrite(record: string, change: Change, mapping: Mapping): PlannedRecord {
  const sensitive = mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  const fields = change.kind === 'link' ? { employee: change.employee.id } : change.fields;
  return {
    record,
    target: 'employee',
    kind: change.kind,
    why: WHY[change.kind],
    changes: newValues(fields),
    sensitive,
  };
}
