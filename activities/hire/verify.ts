import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type HoldRequest, holdOf } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { isShown, missingTargets } from '../../src/plan/judge-write-back.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import { verifyWrites } from '../../src/store/foreign-writes.ts';
import { readMappedValues } from './read-mapped-values.ts';
import type { HireContext } from './with-hire.ts';
import { employeeIdOf } from './write-back.ts';

type Verified = Awaited<ReturnType<HireActivities['finishHire']>>;

/** Reads every target of the write-back again: a 200 alone has been wrong before. */
export async function verify(hire: HireContext): Promise<Verified> {
  const employeeId = employeeIdOf(hire);
  const onEnrolment = await isOnEnrolment(hire, employeeId);
  const expected = await readMappedValues(hire);
  const customFieldId = hire.connection.tenant.writeBack.customField ?? '';
  if (!onEnrolment) expected.push({ customFieldId, value: employeeId });
  const missing = missingTargets(expected, await readShown(hire, expected));
  if (missing.length > 0) return { verdict: 'differs', hold: notVerified(hire.ref, missing) };
  await verifyWrites(hire.store, hire.ref);
  return { verdict: 'verified' };
}

/** Whether the enrolment shows the status and the Employee ID. */
export async function isOnEnrolment({ connection, row }: HireContext, employeeId: string): Promise<boolean> {
  const id = row.onboarding_candidate_id;
  if (id === null) return false;
  const { data } = await connection.partner.onboarding.getCandidate(
    { params: { onboardingCandidateId: id } },
    { priority: 'live' },
  );
  return isShown(data.externalStatus, { status: connection.tenant.writeBack.status, employeeId });
}

/** The candidate's custom fields; where nothing is expected there, no call is spent. */
export async function readShown(
  { connection, row }: HireContext,
  expected: readonly TargetValue[],
): Promise<ReadonlyMap<string, unknown>> {
  if (expected.length === 0) return new Map();
  const query = { entityType: 'candidate' as const, entityId: row.candidate_id ?? '' };
  const { items } = await connection.partner.readAll(contract.customFieldValues.list, { query }, { priority: 'live' });
  return new Map(items.map((item) => [String(item.customFieldId), item.value]));
}

/** A partner may show a write late, so the workflow writes and reads some times more before a person is asked. */
function notVerified({ jobCandidateId }: HireRef, fields: readonly string[]): HoldRequest {
  const targets = fields.map((field) => field || 'external status');
  return holdOf('WRITE_BACK_NOT_VERIFIED', { jobCandidateId, targets });
}
