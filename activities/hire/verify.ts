import type { HireActivities } from '../../src/hire/hire-activities.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { type HoldRequest, holdOf } from '../../src/hire/holds.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { readHireRow, updateHire } from '../../src/store/hires.ts';
import type { HireRow } from '../../src/store/schema.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { guardedOrHeld } from '../guarded.ts';
import { employeeIdOf, mappedValues } from './write-back.ts';

type Verified = Awaited<ReturnType<HireActivities['verify']>>;

/** Reads every target of the write-back again: a 200 alone has been wrong before. */
export function verify(deps: ActivityDeps, ref: HireRef): ReturnType<HireActivities['verify']> {
  return guardedOrHeld(
    deps,
    ref.tenantId,
    async (connection): Promise<Verified> => {
      const row = await readHireRow(deps.store, ref);
      await updateHire(deps.store, ref, { step: 'verify' });
      const employeeId = employeeIdOf(connection, row);
      const onEnrolment = await isOnEnrolment(connection, row, employeeId);
      const expected = new Map(
        (await mappedValues(deps.store, connection, row)).map((value) => [value.customFieldId, value.value]),
      );
      if (!onEnrolment) expected.set(connection.tenant.writeBack.customField ?? '', employeeId);
      const missing = expected.size === 0 ? [] : await missingValues(connection, row, expected);
      if (missing.length === 0) return { verdict: 'verified' };
      return { verdict: 'differs', hold: notVerified(row, missing) };
    },
    'after-employee',
  );
}

async function isOnEnrolment({ tenant, partner }: Connection, row: HireRow, employeeId: string): Promise<boolean> {
  const id = row.onboarding_candidate_id;
  if (id === null) return false;
  const { data } = await partner.onboarding.getCandidate(
    { params: { onboardingCandidateId: id } },
    { priority: 'live' },
  );
  const { status, employeeId: shown } = (data.externalStatus ?? {}) as { status?: unknown; employeeId?: unknown };
  return String(shown) === employeeId && String(status) === tenant.writeBack.status;
}

async function missingValues(
  { partner }: Connection,
  row: HireRow,
  expected: ReadonlyMap<string, unknown>,
): Promise<string[]> {
  const query = { entityType: 'candidate' as const, entityId: row.candidate_id ?? '' };
  const { items } = await partner.readAll(contract.customFieldValues.list, { query }, { priority: 'live' });
  const shown = new Map<string, unknown>(items.map((item) => [item.customFieldId, item.value]));
  return [...expected].filter(([id, value]) => !isSameValue(shown.get(id), value)).map(([id]) => id);
}

/** Stored forms differ from sent ones (section 2.5): a list comes back as JSON text, a number perhaps as a decimal text. */
function isSameValue(shown: unknown, sent: unknown): boolean {
  if (Array.isArray(sent)) return shown === JSON.stringify(sent) || JSON.stringify(shown) === JSON.stringify(sent);
  if (typeof sent === 'number') return Number(shown) === sent;
  return String(shown) === String(sent);
}

/** A partner may show a write late, so the workflow writes and reads some times more before a person is asked. */
function notVerified(row: HireRow, fields: readonly string[]): HoldRequest {
  const targets = fields.map((field) => field || 'external status');
  return holdOf('WRITE_BACK_NOT_VERIFIED', { jobCandidateId: row.job_candidate_id, targets });
}
