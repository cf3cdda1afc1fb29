import { isConnectorError } from '../../src/errors.ts';
import type { Change } from '../../src/hire/change.ts';
import { type Held, refusalHold } from '../../src/hire/holds.ts';
import type { Observed } from '../../src/hire/observed.ts';
import { judgeAdmission } from '../../src/plan/judge-admission.ts';
import { observes } from '../../src/store/assert-may-write.ts';
import { findTaker, type Recorded, recordHire } from '../../src/store/observed-hires.ts';
import { insertPlan } from '../../src/store/plans.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import type { Connection } from '../connections.ts';
import type { ActivityDeps } from '../deps.ts';
import { personOf } from './hire-references.ts';
import { isInScope } from './job-in-scope.ts';
import { previewEmployee } from './preview-employee.ts';

/** A hire that was read as one. */
type Found = Omit<Recorded, 'about' | 'person'>;

/**
 * Whether this hire may start. Where it may not, because the tenant only observes or does not take the job, it is
 * recorded, so that nobody who was hired is ever mistaken for a new hire.
 */
export async function admit(deps: ActivityDeps, connection: Connection, hire: Found): Promise<boolean> {
  const { store, log } = deps;
  const { ref, jobId } = hire;
  const isScoped = connection.tenant.scope !== undefined;
  const admission = judgeAdmission({
    observes: observes(await readTenantState(store, ref.tenantId)),
    inScope: await isInScope(store, connection, jobId),
    takenBy: isScoped ? await findTaker(store, ref) : undefined,
  });
  if (admission.kind === 'start') return true;
  if (admission.kind === 'pass') {
    await recordHire(store, { ...hire, person: personIn(connection, hire), about: { passedOver: admission.why } });
    log.info({ ...ref, jobId, reason: admission.why }, 'hire passed over');
    return false;
  }
  await observeHire(deps, connection, hire);
  return false;
}

/** Plans the hire as it would be made, and writes nothing outside the store. */
async function observeHire(deps: ActivityDeps, connection: Connection, hire: Found): Promise<void> {
  const { store, log } = deps;
  const { ref } = hire;
  const preview = await previewEmployee(deps, connection, ref).catch(refused);
  if (preview.verdict === 'left') return;
  const credits = connection.tenant.policies.onboarding === 'skip' ? 0 : 1;
  const observed: Observed =
    preview.verdict === 'hold'
      ? { would: 'ask', code: preview.hold.code, message: preview.hold.message, credits }
      : { would: preview.change.kind, ...employeeOf(preview.change), credits };
  await store.kysely.transaction().execute(async (kysely) => {
    const trx = { ...store, kysely };
    await recordHire(trx, { ...hire, person: personIn(connection, hire), about: { observed } });
    if (preview.verdict === 'plan')
      await insertPlan(trx, ref, { mappingHash: connection.mapping.hash, change: preview.change });
  });
  log.info({ ...ref, would: observed.would, code: observed.code }, 'hire observed');
}

function personIn({ tenant }: Connection, { candidateId }: Found): Recorded['person'] {
  return candidateId === null ? undefined : personOf(tenant, candidateId);
}

function employeeOf(change: Change): { employeeId?: string } {
  return change.kind === 'create' ? {} : { employeeId: change.employee.id };
}

/** What would be refused is what a person would be asked about. */
function refused(error: unknown): Held {
  if (!isConnectorError(error) || error.action !== 'reject') throw error;
  return refusalHold(error, 'before-employee');
}
