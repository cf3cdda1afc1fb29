import { ConnectorError, isConnectorError } from '../../src/errors.ts';
import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type Held, held } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { readHireRow, updateHire } from '../../src/store/hires.ts';
import { latestIntent } from '../../src/store/intents.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guardedOrHeld } from '../guarded.ts';

interface CustomValue {
  customFieldId: string;
  entityType: 'candidate';
  entityId: string;
  value: string | number | boolean | string[];
}

/** Writes status and Employee ID to the partner, and the mapped custom field values. The same values again are harmless. */
export function writeBack(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['writeBack']> {
  return guardedOrHeld(
    deps,
    ref.tenantId,
    async (connection): Promise<{ verdict: 'written' } | Held> => {
      const row = await readHireRow(deps.store, ref);
      await updateHire(deps.store, ref, { step: 'write-back' });
      const employeeId = employeeIdOf(connection, row);
      const written = await writeToEnrolment(connection, row, employeeId);
      if (written.verdict === 'hold') return written;
      const values = await mappedValues(deps.store, connection, row);
      if (written.verdict === 'elsewhere') values.push(idValue(written.customField, row, employeeId));
      if (values.length > 0) await upsert(connection, values);
      return { verdict: 'written' };
    },
    'after-employee',
  );
}

/** What the tenant calls the Employee ID: the human number or the internal key. */
export function employeeIdOf({ tenant }: Connection, row: HireRow): string {
  const wanted = tenant.writeBack.employeeId === 'id' ? row.employee_id : (row.employee_number ?? undefined);
  if (wanted !== null && wanted !== undefined) return wanted;
  throw new ConnectorError({
    code: 'EMPLOYEE_NUMBER_MISSING',
    action: 'reject',
    message: `The HR system gave employee ${row.employee_id} no number yet. Let it be assigned there, then answer retry; or write the id back with writeBack.employeeId: id.`,
  });
}

/** The custom field takes the ID where there is no enrolment, or where a terminal one refuses. */
async function writeToEnrolment(
  { tenant, partner }: Connection,
  row: HireRow,
  employeeId: string,
): Promise<{ verdict: 'written' } | { verdict: 'elsewhere'; customField: string } | Held> {
  const { customField, status } = tenant.writeBack;
  const id = row.onboarding_candidate_id;
  if (id === null) return customField === undefined ? noTarget(row) : { verdict: 'elsewhere', customField };
  try {
    await partner.onboarding.setExternalStatus(
      { params: { onboardingCandidateId: id }, body: { status, employeeId } },
      { priority: 'live' },
    );
    return { verdict: 'written' };
  } catch (error) {
    if (!isConnectorError(error) || error.action !== 'reject') throw error;
    return customField === undefined ? refused(row, error) : { verdict: 'elsewhere', customField };
  }
}

/** The values that the tenant's file writes back beside the ID, as the HR system holds them now. */
export async function mappedValues(
  store: ActivityDeps['store'],
  { tenant, hris }: Connection,
  row: HireRow,
): Promise<CustomValue[]> {
  if (tenant.writeBack.values.length === 0) return [];
  const read = (): ReturnType<typeof hris.employees.read> =>
    hris.employees.read(row.employee_id ?? '', AbortSignal.timeout(30_000));
  const record = (await read()) ?? (await readLate(store, row, hris.capabilities.readLagMs, read));
  return tenant.writeBack.values.flatMap(({ customFieldId, field }) => {
    const value = record.fields[field];
    if (value === undefined || value === null) return [];
    return [{ customFieldId, entityType: 'candidate' as const, entityId: row.candidate_id ?? '', value }];
  });
}

/** An employee made a moment ago may not be readable yet; one that is still not there after the lag is a question to a person. */
async function readLate<T>(
  store: ActivityDeps['store'],
  row: HireRow,
  readLagMs: number,
  read: () => Promise<T | undefined>,
): Promise<T> {
  const { tenant_id: tenantId, job_candidate_id: jobCandidateId, period, employee_id: employeeId } = row;
  const made = await latestIntent(store, { tenantId, jobCandidateId, period }, 'create-employee');
  const waitMs = made === undefined ? 0 : (made.decided_at ?? made.now) + readLagMs - made.now;
  if (waitMs > 0)
    throw new ConnectorError({
      code: 'EMPLOYEE_NOT_SHOWN_YET',
      action: 'retry',
      message: `The HR system does not show employee ${employeeId} yet.`,
      retryAfterMs: waitMs + 50,
    });
  // The first read may have been before that time, however little.
  const record = await read();
  if (record !== undefined) return record;
  throw new ConnectorError({
    code: 'EMPLOYEE_NOT_FOUND',
    action: 'reject',
    message: `The HR system shows no employee ${employeeId}, so the values to be written back for job candidate ${jobCandidateId} cannot be read. Look there, then answer retry; or keep to end the hire as it is.`,
  });
}

function idValue(customFieldId: string, row: HireRow, value: string): CustomValue {
  return { customFieldId, entityType: 'candidate', entityId: row.candidate_id ?? '', value };
}

async function upsert({ partner }: Connection, values: CustomValue[]): Promise<void> {
  const outcomes = await partner.inChunks(
    contract.customFieldValues.upsertBulk,
    { body: values },
    { priority: 'live' },
  );
  const failed = outcomes.find((outcome) => !outcome.ok);
  if (failed !== undefined && !failed.ok) throw failed.error;
}

function noTarget(row: HireRow): Held {
  return held('WRITE_BACK_TARGET_MISSING', { jobCandidateId: row.job_candidate_id });
}

function refused(row: HireRow, error: ConnectorError): Held {
  return held('WRITE_BACK_REFUSED', {
    onboardingCandidateId: row.onboarding_candidate_id ?? '',
    refusal: error.code,
    status: row.onboarding_status,
  });
}
