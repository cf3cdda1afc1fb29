import type { World } from '../world.ts';
import { checkAccess } from './access.ts';
import { checkAsked } from './asked.ts';
import { gatherFacts } from './facts.ts';
import { checkFinished, checkHolds, checkQuiet } from './finished.ts';
import { checkEmployees, checkEnrolments, checkTerminations } from './once.ts';

/** Every invariant that can be judged at rest; one line each that is broken, with its number first. */
export function check(world: World, when: 'calm' | 'answered'): string[] {
  const facts = gatherFacts(world);
  return [
    ...world.violations.splice(0),
    ...checkFinished(world, facts),
    ...checkEmployees(world, facts),
    ...checkEnrolments(world, facts),
    ...checkTerminations(world, facts),
    ...checkAsked(world, facts),
    ...checkAccess(world),
    ...checkInbox(world),
    ...checkQuiet(world, facts),
    ...checkHolds(world, when),
    ...world.temporal.failures
      .filter(({ workflowId }) => workflowId.includes('/hire/'))
      .map(({ workflowId, error }) => `I8 ${workflowId} failed: ${String(error)}`),
  ];
}

/** I6. */
function checkInbox(world: World): string[] {
  const rows = world.store.all<{ tenant_id: string; body_hash: string }>('select tenant_id, body_hash from inbox');
  const stored = new Set(rows.map((row) => `${row.tenant_id} ${row.body_hash}`));
  return world.acknowledged
    .filter(({ tenantId, bodyHash }) => !stored.has(`${tenantId} ${bodyHash}`))
    .map(({ tenantId }) => `I6 a delivery of ${tenantId} was answered 2xx and is not in the inbox`);
}
