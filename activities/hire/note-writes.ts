import type { EmployeeFields } from '../../src/hire/employee.ts';
import { BY_ITSELF, type FieldChange, type NewWrite, recordWrites } from '../../src/store/foreign-writes.ts';
import type { HireContext } from './with-hire.ts';

/** What a hire is about to write, before it is known whose it is. */
export type HireWrite = Omit<NewWrite, 'recordId' | 'period'>;

/** The run that writes of hires are written down under, unless a person applies a plan. */
const RUN = 'hire';

/** Takes down what a hire is about to write. Returns the batch. */
export function noteWrites(
  { deps, connection, ref, mapping }: HireContext,
  writes: readonly HireWrite[],
  intent?: { verb: string; attempt: number },
): Promise<string> {
  const { runId, by } = deps.actor ?? { runId: RUN, by: BY_ITSELF };
  const origin = { tenantId: ref.tenantId, runId, by, mappingHash: (mapping ?? connection.mapping).hash };
  return recordWrites(
    deps.store,
    intent === undefined ? origin : { ...origin, intent },
    writes.map((write) => ({ ...write, recordId: ref.jobCandidateId, period: ref.period })),
  );
}

/** Fields that get a value; what they held before is not known, or is nothing where the record is new. */
export function newValues(fields: EmployeeFields): Record<string, FieldChange> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { new: value }]));
}

/** Fields of an employee that are shown masked. */
export function sensitiveFields({ connection, mapping = connection.mapping }: HireContext): string[] {
  return mapping.fields.filter((field) => field.sensitive).map((field) => field.target);
}
