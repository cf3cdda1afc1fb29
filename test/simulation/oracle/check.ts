import type { Moment } from '../run-seed.ts';
import { has } from '../scenario.ts';
import type { World } from '../world.ts';
import { checkAccess } from './access.ts';
import { checkAsked } from './asked.ts';
import { gatherFacts } from './facts.ts';
import { checkFinished, checkHolds, checkQuiet, checkSoonQuiet } from './finished.ts';
import { checkClaims, checkEmployees, checkEnrolments, checkTerminations } from './once.ts';
import { checkTenancy } from './tenancy.ts';

/**
 * Every invariant that can be judged at rest; one line each that is broken, with its number first. Where each of the
 * ten
 * (performance and reliability, section 5) is judged, with what issue 4 excuses:
 *
 * - I1 `finished.ts` checkFinished: hires that are not held; `once.ts` checkTerminations.
 * - I2 `once.ts` checkEmployees, and `asked.ts`: what only a person may decide was decided by one.
 * - I3 `once.ts` checkEnrolments.
 * - I4 `access.ts` checkKeys for what was asked of the partner, `tenancy.ts` for our own rows and the HRIS.
 * - I5 `same-end.ts`, called by `play-seeds.ts` with a second run without faults: seeds without a change of mind,
 * people who were never held.
 * - I6 `checkInbox` below: what was acknowledged before somebody deleted our store is lost with it.
 * - I7 `watch-listings.ts`, at each commit of the reconcile's snapshot.
 * - I8 `finished.ts` checkSoonQuiet within twice the fault-free time, checkQuiet after a night; a workflow that failed,
 * below.
 * - I9 `access.ts` checkRetries by activity, checkRepeats by request: apart from the credit canary (checkCanaries: at
 * most one a period),
 *   the probe of a paused tenant and the second read that confirms absence.
 * - I10 `finished.ts` checkHolds: each open hold says why and takes answers, and after answers as a person would give
 * none is open.
 */
export function check(world: World, when: Moment): string[] {
  const facts = gatherFacts(world);
  if (when === 'soon') return checkSoonQuiet(world, facts);
  return [
    ...world.violations.splice(0),
    ...checkFinished(world, facts),
    ...checkEmployees(world, facts),
    ...checkEnrolments(world, facts),
    ...checkTerminations(world, facts),
    ...checkClaims(world),
    ...checkAsked(world, facts),
    ...checkAccess(world),
    ...checkTenancy(world),
    ...checkInbox(world),
    ...checkQuiet(world, facts),
    ...checkHolds(world, when),
    ...world.temporal.failures
      .filter(({ workflowId }) => workflowId.includes('/hire/'))
      .map(({ workflowId, error }) => `I8 ${workflowId} failed: ${String(error)}`),
  ];
}

/** I6. Where old deliveries are cleared, the trigger of watch-listings.ts sees to it that none goes that waits. */
function checkInbox(world: World): string[] {
  const rows = world.store.all<{ tenant_id: string; body_hash: string }>('select tenant_id, body_hash from inbox');
  const stored = new Set(rows.map((row) => `${row.tenant_id} ${row.body_hash}`));
  if (has(world, 'retention')) return [];
  return world.acknowledged
    .filter(({ tenantId, bodyHash }) => !stored.has(`${tenantId} ${bodyHash}`))
    .map(({ tenantId }) => `I6 a delivery of ${tenantId} was answered 2xx and is not in the inbox`);
}
