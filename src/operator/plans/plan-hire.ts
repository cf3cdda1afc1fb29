import type { HireContext } from '../../../activities/hire/with-hire.ts';
import { reread } from '../../../activities/hire/with-hire.ts';
import { ConnectorError } from '../../errors.ts';
import { latestHire } from '../../store/hires.ts';
import { savePlan } from '../../store/saved-plans.ts';
import type { OpenTenant } from '../open-tenant.ts';
import { planHireAfter } from './plan-hire-after.ts';
import { planHireStart } from './plan-hire-start.ts';
import type { HireWrites, PlanView } from './plan-view.ts';

/**
 * What would be written for one hire as both sides stand now. Reads only: no claim is taken and nothing is noted.
 * @throws ConnectorError HIRE_UNKNOWN
 */
export async function planHire(open: OpenTenant, jobCandidateId: string, by: string): Promise<PlanView> {
  const hire = await readHire(open, jobCandidateId);
  const { mappingHash, writes, notes } = await hireWrites(hire);
  const { tenantId, period } = hire.ref;
  const subject = `hire ${jobCandidateId}/${period}`;
  const view = { tenant: tenantId, subject, mapping: mappingHash, read: 1, records: writes, notes };
  if (writes.length === 0) return view;
  const records = writes.map((write) => ({ id: write.target, change: write }));
  return {
    ...view,
    hash: await savePlan(open.store, { tenantId, subject, source: 'records', mappingHash, by, records }),
  };
}

export async function readHire({ store, tenant, connection, deps }: OpenTenant, id: string): Promise<HireContext> {
  const row = await latestHire(store, tenant.tenant, id);
  if (row === undefined) throw unknownHire(tenant.tenant, id);
  const ref = { tenantId: tenant.tenant, jobCandidateId: id, period: row.period };
  return reread({ deps, connection, ref });
}

/** A hire that is over without an employee writes nothing any more. */
export async function hireWrites(hire: HireContext): Promise<HireWrites> {
  const { row, connection, ref } = hire;
  if (row.employee_id !== null) return planHireAfter(hire);
  if (row.state === 'open') return planHireStart(hire);
  const reason = `the hire is over (${row.state}) and has no employee`;
  const note = { record: ref.jobCandidateId, what: 'nothing to write', reason };
  return { mappingHash: connection.mapping.hash, writes: [], notes: [note] };
}

function unknownHire(tenantId: string, id: string): ConnectorError {
  return new ConnectorError({
    code: 'HIRE_UNKNOWN',
    action: 'reject',
    message: `${tenantId} has no hire of job candidate ${id}. Check the id; it is no candidate id.`,
  });
}
