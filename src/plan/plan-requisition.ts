import type { EmployeeFields, FieldValue } from '../hire/employee.ts';

/** A job as the partner lists it, with what shows which requisition it belongs to. */
export interface ListedJob {
  id: string;
  fields: Readonly<Record<string, unknown>>;
  /** Its custom fields by id; fields that the list does not show are absent. */
  values: ReadonlyMap<string, unknown>;
  /** Milliseconds since 1970 on the partner's clock. */
  createdAt?: number;
}

type JobSeen = { kind: 'one'; job: ListedJob } | { kind: 'many'; jobIds: string[] } | { kind: 'none' };

/** Finds a requisition's job by the custom field that carries the requisition's id. */
export function findJob(jobs: readonly ListedJob[], reference: string, requisitionId: string): JobSeen {
  const mine = jobs.filter(({ values }) => values.get(reference) === requisitionId);
  const [job, ...others] = mine;
  if (job === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'one', job } : { kind: 'many', jobIds: idsOf(mine) };
}

/** Largest difference between the partner's clock and ours. */
const SKEW_MS = 3_600_000;

/**
 * Jobs that a request without an answer may have made: created since then, and not showing which requisition they are
 * for.
 */
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

/** Once a job is made, its status belongs to the recruiter. */
const RECRUITERS = 'status';

/** Job fields that no longer match the requisition; nothing in the API can edit them. */
export function notWritable(wanted: EmployeeFields, { fields }: ListedJob): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => name !== RECRUITERS && fields[name] !== undefined && !isSame(fields[name], value))
    .map(([name]) => name);
}

/** Custom fields of the job whose value differs from the requisition's. */
export function changedValues<Value extends { customFieldId: string; value: Exclude<FieldValue, null> }>(
  wanted: readonly Value[],
  { values }: ListedJob,
): Value[] {
  return wanted.filter(({ customFieldId, value }) => !isSame(values.get(customFieldId), value));
}

function isSame(shown: unknown, wanted: FieldValue): boolean {
  return JSON.stringify(shown ?? null) === JSON.stringify(wanted);
}
