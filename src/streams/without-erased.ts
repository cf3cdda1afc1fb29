import { stoppedAmong } from '../store/consents.ts';
import type { Store } from '../store/open-store.ts';
import { erasedOf, type IdKind, type PersonId } from '../store/person-marks.ts';

/** For streams whose records are about people: what kind of id their record ids are. */
const KINDS: Readonly<Record<string, IdKind>> = {
  candidates: 'candidate',
  applications: 'job-candidate',
  onboarding: 'enrolment',
  leads: 'lead',
  consents: 'job-candidate',
};

/** People that a record names besides its own id. */
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

interface Named {
  id: string;
  people: PersonId[];
}

function namedBy(stream: string, records: readonly Record<string, unknown>[]): Named[] {
  const kind = KINDS[stream];
  return records.map((record) => {
    const id = String(record['id']);
    return { id, people: [...(kind === undefined ? [] : [{ kind, id }]), ...peopleNamedIn(record)] };
  });
}

/** Ids of those records that belong to erased people, including applications they made later. */
export async function erasedRecords(
  store: Store,
  { tenantId, stream }: { tenantId: string; stream: string },
  records: readonly Record<string, unknown>[],
): Promise<ReadonlySet<string>> {
  return recordsOf(namedBy(stream, records), (people) => erasedOf(store, tenantId, people));
}

/** Records that must not land: of erased people, or of people whose consent has ended if the tenant reads consents. */
export async function refusedRecords(
  store: Store,
  { tenant, streams }: { tenant: string; streams: { consents: { every?: number | undefined } } },
  stream: string,
  records: readonly Record<string, unknown>[],
): Promise<ReadonlySet<string>> {
  const named = namedBy(stream, records);
  const erased = await recordsOf(named, (people) => erasedOf(store, tenant, people));
  // The consent itself lands in any state.
  if (streams.consents.every === undefined || stream === 'consents' || records.length === 0) return erased;
  return new Set([...erased, ...(await recordsOf(named, (people) => stoppedAmong(store, tenant, people)))]);
}

async function recordsOf(
  named: readonly Named[],
  whose: (people: PersonId[]) => Promise<(one: PersonId) => boolean>,
): Promise<ReadonlySet<string>> {
  const isTheirs = await whose(named.flatMap(({ people }) => people));
  return new Set(named.filter(({ people }) => people.some(isTheirs)).map(({ id }) => id));
}
