import { isConnectorError } from '../../src/errors.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { isShown } from '../../src/plan/judge-write-back.ts';
import type { ToldEmployment } from '../../src/plan/plan-employment.ts';
import type { Employment } from '../../src/store/employments.ts';
import { BY_ITSELF, type FieldChange, recordWrites, settleWrites } from '../../src/store/foreign-writes.ts';
import type { PushContext } from '../push/push-context.ts';

/** unchanged: the partner holds it already. unseen: it was written, and a read does not show it. */
export type Told = 'unchanged' | 'written' | 'unseen' | 'no-target';

/**
 * Brings status and Employee ID to the enrolment; where there is none, or a terminal one refuses, the Employee ID goes
 * to the custom field that the tenant named. Looks before it writes, and reads back after.
 */
export async function tellEmployment(
  context: PushContext,
  employment: Employment,
  wanted: ToldEmployment,
): Promise<Told> {
  const { onboarding_candidate_id: enrolment } = employment.hire;
  const { customField } = context.connection.tenant.writeBack;
  try {
    if (enrolment !== null) return await tellEnrolment(context, employment, { enrolment, wanted });
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject' || customField === undefined) throw error;
  }
  return customField === undefined ? 'no-target' : tellCustomField(context, employment, { customField, wanted });
}

async function tellEnrolment(
  context: PushContext,
  employment: Employment,
  { enrolment, wanted }: { enrolment: string; wanted: ToldEmployment },
): Promise<Told> {
  const { onboarding } = context.connection.partner;
  const params = { onboardingCandidateId: enrolment };
  const shown = (await onboarding.getCandidate({ params })).data.externalStatus;
  if (isShown(shown, wanted)) return 'unchanged';
  const before = (shown ?? {}) as Partial<Record<keyof ToldEmployment, unknown>>;
  const changes = {
    status: { old: before.status, new: wanted.status },
    employeeId: { old: before.employeeId, new: wanted.employeeId },
  };
  await noted(context, employment, { target: 'external-status', foreignId: enrolment, changes }, () =>
    onboarding.setExternalStatus({ params, body: { ...wanted } }),
  );
  return isShown((await onboarding.getCandidate({ params })).data.externalStatus, wanted) ? 'written' : 'unseen';
}

async function tellCustomField(
  context: PushContext,
  employment: Employment,
  { customField, wanted }: { customField: string; wanted: ToldEmployment },
): Promise<Told> {
  const { partner } = context.connection;
  const entityId = employment.link.candidate_id;
  const entity = { entityType: 'candidate' as const, entityId };
  const read = async (): Promise<unknown> => {
    const { items } = await partner.readAll(contract.customFieldValues.list, { query: entity });
    return items.find((item) => String(item.customFieldId) === customField)?.value;
  };
  const old = await read();
  if (old === wanted.employeeId) return 'unchanged';
  const changes = { [customField]: { old, new: wanted.employeeId } };
  const body = { ...entity, customFieldId: customField, value: wanted.employeeId };
  await noted(context, employment, { target: 'custom-fields', foreignId: entityId, changes }, () =>
    partner.customFieldValues.upsert({ body }),
  );
  return (await read()) === wanted.employeeId ? 'written' : 'unseen';
}

/** A write beside its note: intent before, outcome after. The same again is harmless. */
async function noted(
  { deps, key, runId }: PushContext,
  { hire }: Employment,
  write: { target: string; foreignId: string; changes: Record<string, FieldChange> },
  send: () => Promise<unknown>,
): Promise<void> {
  const origin = { tenantId: key.tenantId, runId, by: BY_ITSELF, mappingHash: null };
  const record = { recordId: hire.job_candidate_id, period: hire.period, kind: 'update' as const, sensitive: [] };
  const batchId = await recordWrites(deps.store, origin, [{ ...record, ...write }]);
  try {
    await send();
  } catch (error) {
    const isRefused = isConnectorError(error) && (error.action === 'reject' || error.action === 'reauthorize');
    if (isRefused) await settleWrites(deps.store, batchId, 'refused');
    throw error;
  }
  await settleWrites(deps.store, batchId, 'done');
}
