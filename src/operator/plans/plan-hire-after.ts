import { newValues } from '../../../activities/hire/note-writes.ts';
import { readMappedValues } from '../../../activities/hire/read-mapped-values.ts';
import { isOnEnrolment, readShown } from '../../../activities/hire/verify.ts';
import type { HireContext } from '../../../activities/hire/with-hire.ts';
import { customFieldWrite, employeeIdOf } from '../../../activities/hire/write-back.ts';
import { fetchJobCandidates } from '../../../activities/presence/fetch-job-candidates.ts';
import { evaluateMapping } from '../../mapping/evaluate.ts';
import { missingTargets } from '../../plan/judge-write-back.ts';
import { planCorrections } from '../../plan/plan-corrections.ts';
import type { TargetValue } from '../../plan/plan-write-back.ts';
import { listWrites } from '../../store/foreign-writes.ts';
import { changesOf } from '../explain/read-audit.ts';
import { patiently } from '../open-tenant.ts';
import { sourcesOf } from './hire-sources.ts';
import type { HireWrites, PlannedRecord, PlanView } from './plan-view.ts';

const READ_MS = 30_000;

/** What a hire with an employee has still to write: fields that a later mapping gives otherwise, and the way back. */
export async function planHireAfter(hire: HireContext): Promise<HireWrites> {
  const corrected = await corrections(hire);
  const back = await writeBacks(hire);
  return {
    mappingHash: hire.connection.mapping.hash,
    writes: [...corrected.writes, ...back],
    notes: corrected.notes,
  };
}

interface Corrected {
  writes: PlannedRecord[];
  notes: PlanView['notes'];
}

/** Of an employee that we made; one who was there before belongs to the HR system. */
async function corrections(hire: HireContext): Promise<Corrected> {
  const { connection, ref, row } = hire;
  const none = (reason: string): Corrected => ({
    writes: [],
    notes: [{ record: ref.jobCandidateId, what: 'employee left as it is', reason }],
  });
  const written = await writtenFields(hire);
  if (written === 'not-ours') return { writes: [], notes: [] };
  if (written === 'purged')
    return none('what was written to it has been purged, so nobody can tell whose its values are');
  const [fetched] = await patiently(() => fetchJobCandidates(connection, [ref.jobCandidateId]));
  if (fetched?.jobCandidate === undefined) return none('the partner does not show the job candidate');
  const employee = await connection.hris.employees.read(row.employee_id ?? '', AbortSignal.timeout(READ_MS));
  if (employee === undefined) return none(`the HR system shows no employee ${row.employee_id}`);
  const { fields, problems } = evaluateMapping(connection.mapping, await sourcesOf(hire, fetched.jobCandidate));
  if (problems.length > 0) return none(problems.map(({ text }) => text).join(' '));
  const { fields: changed, kept } = planCorrections(fields, written, employee.fields);
  const notes = kept.map((name) => ({
    record: ref.jobCandidateId,
    what: `${name} left as it is`,
    reason: 'it was changed in the HR system since it was written',
  }));
  if (Object.keys(changed).length === 0) return { writes: [], notes };
  const changes = Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [name, { old: employee.fields[name] ?? null, new: value }]),
  );
  const sensitive = connection.mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
  const why = 'the mapping gives another value than was written, and nobody changed it there';
  return {
    writes: [{ record: ref.jobCandidateId, target: 'employee', kind: 'update', why, changes, sensitive }],
    notes,
  };
}

/** By field, what we wrote last. */
async function writtenFields({ store, ref }: HireContext): Promise<Record<string, unknown> | 'not-ours' | 'purged'> {
  const rows = await listWrites(store, { tenantId: ref.tenantId, recordId: ref.jobCandidateId, target: 'employee' });
  const own = rows.filter((row) => row.period === ref.period && row.outcome === 'done').toReversed();
  if (!own.some((row) => row.kind === 'create')) return 'not-ours';
  if (own.some((row) => row.purged_at !== null)) return 'purged';
  const written = own.flatMap((row) => Object.entries(changesOf(row)).map(([name, change]) => [name, change.new]));
  return Object.fromEntries(written) as Record<string, unknown>;
}

async function writeBacks(hire: HireContext): Promise<PlannedRecord[]> {
  const { ref } = hire;
  const values = await readMappedValues(hire);
  const { toEnrolment, toField, shown } = await idTargets(hire, values);
  const missing = new Set(missingTargets(values, shown));
  const lacking = [...values.filter(({ customFieldId }) => missing.has(customFieldId)), ...toField];
  const common = { record: ref.jobCandidateId, kind: 'update', why: 'the partner does not show it' } as const;
  const writes: PlannedRecord[] = [];
  if (toEnrolment !== undefined)
    writes.push({ ...common, target: 'external-status', changes: newValues(toEnrolment), sensitive: [] });
  if (lacking.length === 0) return writes;
  const { sensitive } = customFieldWrite(hire, lacking);
  const changes = Object.fromEntries(
    lacking.map(({ customFieldId: id, value }) => [id, { old: shown.get(id) ?? null, new: value }]),
  );
  return [...writes, { ...common, target: 'custom-fields', changes, sensitive }];
}

interface IdTargets {
  toEnrolment: { status: string; employeeId: string } | undefined;
  toField: TargetValue[];
  shown: ReadonlyMap<string, unknown>;
}

/** Where the Employee ID is still to be written; shown in either place, it is there. */
async function idTargets(hire: HireContext, values: readonly TargetValue[]): Promise<IdTargets> {
  const { customField, status } = hire.connection.tenant.writeBack;
  const employeeId = employeeIdOf(hire);
  const onEnrolment = await isOnEnrolment(hire, employeeId);
  const field = customField === undefined || onEnrolment ? [] : [{ customFieldId: customField, value: employeeId }];
  const shown = await readShown(hire, [...values, ...field]);
  const isThere = onEnrolment || (field.length > 0 && missingTargets(field, shown).length === 0);
  if (isThere) return { toEnrolment: undefined, toField: [], shown };
  if (hire.row.onboarding_candidate_id === null) return { toEnrolment: undefined, toField: field, shown };
  return { toEnrolment: { status, employeeId }, toField: [], shown };
}
