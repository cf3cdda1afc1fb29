import type { Store } from '../store/open-store.ts';
import { erasedOf, type IdKind, type PersonId } from '../store/person-marks.ts';

/** What the ids of a stream's records are of, where the records are people's. */
const KINDS: Readonly<Record<string, IdKind>> = {
  candidates: 'candidate',
  applications: 'job-candidate',
  onboarding: 'enrolment',
  leads: 'lead',
};

/** People whom a record names beside its own id. */
export function peopleNamedIn({
  candidateId,
  jobCandidateId,
  entityType,
  entityId,
}: Record<string, unknown>): PersonId[] {
  const isBooked = typeof entityType === 'string' && /candidate/i.test(entityType);
  const booked: IdKind = /job/i.test(String(entityType)) ? 'job-candidate' : 'candidate';
  const named: [IdKind, unknown][] = [
    ['candidate', candidateId],
    ['job-candidate', jobCandidateId],
    [booked, isBooked ? entityId : undefined],
  ];
  return named.flatMap(([kind, id]) =>
    typeof id === 'string' || typeof id === 'number' ? [{ kind, id: String(id) }] : [],
  );
}

/** Ids among these records that are of people who were erased; also an application of theirs that came later. */
export async function erasedRecords(
  store: Store,
  { tenantId, stream }: { tenantId: string; stream: string },
  records: readonly Record<string, unknown>[],
): Promise<ReadonlySet<string>> {
  const kind = KINDS[stream];
  const known = records.map((record) => {
    const id = String(record['id']);
    return { id, own: [...(kind === undefined ? [] : [{ kind, id }]), ...peopleNamedIn(record)] };
  });
  const isErased = await erasedOf(
    store,
    tenantId,
    known.flatMap(({ own }) => own),
  );
  return new Set(known.filter(({ own }) => own.some(isErased)).map(({ id }) => id));
}
