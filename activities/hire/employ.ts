import { inActivity } from '../../src/failpoint.ts';
import type { Employed, HireActivities } from '../../src/hire/hire-activities.ts';
import type { ActivityDeps } from '../deps.ts';
import { applyPlan, finishPending } from './apply-plan.ts';
import { planEmployee } from './plan-employee.ts';
import { takeSeen } from './see-person.ts';
import { formerHris, reread, withHireOrHeld } from './with-hire.ts';

/**
 * Plans and applies the plan by one reading of the person. One activity, because nothing is waited for in between; a
 * repeat plans anew, unless the HR system has taken a create and somebody finishes it there.
 */
export function employ(deps: ActivityDeps, asked: Parameters<HireActivities['employ']>[0]): Promise<Employed> {
  return withHireOrHeld(deps, asked, async (hire): Promise<Employed> => {
    // An earlier attempt came to the end and was lost: where the person is by now changes nothing.
    if (hire.row.state === 'done') return { verdict: 'employee' };
    // Which employee it has in the tenant's present HR system is asked before the partner is told.
    if (formerHris(hire) !== undefined) return { verdict: 'employee' };
    const finished = await finishPending(hire);
    if (finished !== undefined) return finished;
    const seen = asked.seenAtOpening === true ? takeSeen(hire.connection, hire.ref) : undefined;
    const planned = await inActivity('planEmployee', () => planEmployee(hire, seen));
    if (planned.verdict !== 'plan') return planned;
    // A create reads it again under its lease.
    const now = planned.change.kind === 'create' ? hire : await reread(hire);
    return inActivity('applyPlan', () => applyPlan(now, planned));
  });
}
