import { ConnectorError } from '../src/errors.ts';
import { contract } from '../src/partner/contract/index.ts';
import { readHireRow, updateHire } from '../src/store/hires.ts';
import type { HireRow } from '../src/store/schema.ts';
import type { HireRef } from '../workflows/messages.ts';
import type { Connection } from './connections.ts';
import type { ActivityDeps } from './deps.ts';
import { guardedOrHeld } from './guarded.ts';
import type { Held, HireActivities } from './hire-activities.ts';
import { employeeIdOf, mappedValues } from './write-back.ts';

/** Reads every target of the write-back again: a 200 alone has been wrong before. */
export function verify(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['verify']> {
  return guardedOrHeld(deps, ref.tenantId, async (connection): Promise<{ verdict: 'verified' } | Held> => {
    const row = await readHireRow(deps.store, ref);
    await updateHire(deps.store, ref, { step: 'verifying' });
    const employeeId = employeeIdOf(connection, row);
    const onEnrolment = await isOnEnrolment(connection, row, employeeId);
    const expected = new Map((await mappedValues(connection, row)).map((value) => [value.customFieldId, value.value]));
    if (!onEnrolment) expected.set(connection.tenant.writeBack.customField ?? '', employeeId);
    const missing = expected.size === 0 ? [] : await missingValues(connection, row, expected);
    if (missing.length === 0) return { verdict: 'verified' };
    throw notVerified(row, missing);
  });
}

async function isOnEnrolment({ tenant, partner }: Connection, row: HireRow, employeeId: string): Promise<boolean> {
  const id = row.onboarding_candidate_id;
  if (id === null) return false;
  const { data } = await partner.onboarding.getCandidate({ params: { onboardingCandidateId: id } }, { lane: 'live' });
  const { status, employeeId: shown } = (data.externalStatus ?? {}) as { status?: unknown; employeeId?: unknown };
  return String(shown) === employeeId && String(status) === tenant.writeBack.status;
}

async function missingValues(
  { partner }: Connection,
  row: HireRow,
  expected: ReadonlyMap<string, unknown>,
): Promise<string[]> {
  const query = { entityType: 'candidate' as const, entityId: row.candidate_id ?? '' };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query }, { lane: 'live' });
  const shown = new Map(items.map((item) => [String(item.customFieldId), item.value]));
  return [...expected].filter(([id, value]) => !isSameValue(shown.get(id), value)).map(([id]) => id);
}

/** Stored forms differ from sent ones (section 2.5): a list comes back as JSON text, a number perhaps as a decimal text. */
function isSameValue(shown: unknown, sent: unknown): boolean {
  if (Array.isArray(sent)) return shown === JSON.stringify(sent) || JSON.stringify(shown) === JSON.stringify(sent);
  if (typeof sent === 'number') return Number(shown) === sent;
  return String(shown) === String(sent);
}

/** Tried again: a partner may show a write late. Only what stays different for the activity's whole life would be seen by a person. */
function notVerified(row: HireRow, fields: readonly string[]): ConnectorError {
  return new ConnectorError({
    code: 'WRITE_BACK_NOT_VERIFIED',
    action: 'retry',
    message: `The hiring platform does not show what was written back for job candidate ${row.job_candidate_id} (${fields.filter((field) => field !== '').join(', ') || 'external status'}).`,
  });
}
