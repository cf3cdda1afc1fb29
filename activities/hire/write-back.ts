import { isConnectorError } from '../../src/errors.ts';
import type { Held } from '../../src/hire/holds.ts';
import type { EmployeeRecord } from '../../src/hris/port.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { employeeIdToWrite, type TargetValue, targetAfterRefusal, targetOf } from '../../src/plan/plan-write-back.ts';
import { settleWrites } from '../../src/store/foreign-writes.ts';
import { encodeTargets } from '../fields/field-values.ts';
import { type HireWrite, newValues, noteWrites, sensitiveFields } from './note-writes.ts';
import { readMappedValues } from './read-mapped-values.ts';
import { type HireContext, noteHire } from './with-hire.ts';

type WrittenBack = { verdict: 'written' } | Held;

/**
 * Writes status and Employee ID to the partner, and the mapped custom field values. The same values again are
 * harmless. `shown`: the employee as read a moment ago.
 */
export async function writeBack(hire: HireContext, shown?: EmployeeRecord): Promise<WrittenBack> {
  await noteHire(hire, { step: 'write-back' });
  const employeeId = employeeIdOf(hire);
  const target = await writeEmployeeId(hire, employeeId);
  if (target.verdict === 'hold') return target;
  const values = await readMappedValues(hire, shown);
  if (target.verdict === 'custom-field') values.push({ customFieldId: target.customField, value: employeeId });
  if (values.length > 0) await upsertValues(hire, values);
  return { verdict: 'written' };
}

export function employeeIdOf({ connection, row }: HireContext): string {
  const employee = { id: row.employee_id, number: row.employee_number };
  return employeeIdToWrite(connection.tenant.writeBack.employeeId, employee);
}

/** Writes to the enrolment, or says which custom field takes the ID instead. */
export async function writeEmployeeId(
  hire: HireContext,
  employeeId: string,
  status = hire.connection.tenant.writeBack.status,
): Promise<{ verdict: 'written' } | { verdict: 'custom-field'; customField: string } | Held> {
  const { tenant, partner } = hire.connection;
  const { ref, row } = hire;
  const { customField } = tenant.writeBack;
  const target = targetOf({ ...ref, onboardingCandidateId: row.onboarding_candidate_id }, customField);
  if (target.verdict !== 'enrolment') return target;
  const { onboardingCandidateId } = target;
  const changes = newValues({ status, employeeId });
  const batchId = await noteWrites(hire, [
    { target: 'external-status', foreignId: onboardingCandidateId, kind: 'update', changes, sensitive: [] },
  ]);
  try {
    await partner.onboarding.setExternalStatus(
      { params: { onboardingCandidateId }, body: { status, employeeId } },
      { priority: 'live' },
    );
    return { verdict: 'written' };
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    await settleWrites(hire.store, batchId, 'refused');
    const refused = { onboardingCandidateId, refusal: error.code, status: row.onboarding_status };
    return targetAfterRefusal(refused, customField);
  }
}

/** Upserts these custom field values of the candidate, each in the form of its field. */
export async function upsertValues(hire: HireContext, values: readonly TargetValue[]): Promise<void> {
  const { partner } = hire.connection;
  const entityId = hire.row.candidate_id ?? '';
  const encoded = await encodeTargets(hire, values);
  await noteWrites(hire, [customFieldWrite(hire, values)]);
  const body = encoded.map((value) => ({ ...value, entityType: 'candidate' as const, entityId }));
  const outcomes = await partner.inChunks(contract.customFieldValues.upsertBulk, { body }, { priority: 'live' });
  const failed = outcomes.find((outcome) => !outcome.ok);
  if (failed !== undefined && !failed.ok) throw failed.error;
}

/** A value that comes from a sensitive field of the employee is as sensitive in the candidate. */
export function customFieldWrite(hire: HireContext, values: readonly TargetValue[]): HireWrite {
  const foreignId = hire.row.candidate_id ?? '';
  const hidden = new Set(sensitiveFields(hire));
  const { values: mapped } = hire.connection.tenant.writeBack;
  const sensitive = mapped.filter(({ field }) => hidden.has(field)).map(({ customFieldId }) => customFieldId);
  const changes = newValues(Object.fromEntries(values.map(({ customFieldId, value }) => [customFieldId, value])));
  return { target: 'custom-fields', foreignId, kind: 'update', changes, sensitive };
}
