import type { EmployeeFields, FieldValue } from '../hire/employee.ts';

/** A job as the partner lists it, as far as it tells whose requisition it is. */
export interface ListedJob {
  id: string;
  fields: Readonly<Record<string, unknown>>;
  /** Its custom fields by id; one that the list does not show is absent. */
  values: ReadonlyMap<string, unknown>;
  /** Milliseconds since 1970, on the partner's clock. */
  createdAt?: number;
}

type JobSeen = { kind: 'one'; job: ListedJob } | { kind: 'many'; jobIds: string[] } | { kind: 'none' };

/** Finds a requisition's job by the custom field that carries its id. */
export function findJob(jobs: readonly ListedJob[], reference: string, requisitionId: string): JobSeen {
  const mine = jobs.filter(({ values }) => values.get(reference) === requisitionId);
  const [job, ...others] = mine;
  if (job === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'one', job } : { kind: 'many', jobIds: idsOf(mine) };
}

/** How far the partner's clock may be from ours. */
const SKEW_MS = 3_600_000;

/** Jobs that may have come of a request without an answer: made since then, and not showing whose they are. */
export function mayBeOurs(jobs: readonly ListedJob[], reference: string, sentAt: number): string[] {
  return idsOf(
    jobs.filter(
      ({ values, createdAt = Number.POSITIVE_INFINITY }) => !values.has(reference) && createdAt >= sentAt - SKEW_MS,
    ),
  );
}

function idsOf(jobs: readonly ListedJob[]): string[] {
  return jobs.map(({ id }) => id);
}

/** The state of a job is the recruiter's from the moment it is made. */
const RECRUITERS = 'status';

/** Fields of the job that are no longer as the requisition has them: nothing in the API edits them. */
export function notWritable(wanted: EmployeeFields, { fields }: ListedJob): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => name !== RECRUITERS && fields[name] !== undefined && !isSame(fields[name], value))
    .map(([name]) => name);
}

/** Custom fields of the job that hold something else than the requisition has. */
export function changedValues<Value extends { customFieldId: string; value: Exclude<FieldValue, null> }>(
  wanted: readonly Value[],
  { values }: ListedJob,
): Value[] {
  return wanted.filter(({ customFieldId, value }) => !isSame(values.get(customFieldId), value));
}

function isSame(shown: unknown, wanted: FieldValue): boolean {
  return JSON.stringify(shown ?? null) === JSON.stringify(wanted);
}
