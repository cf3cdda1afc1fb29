import { membershipOf } from './oracle/memberships.ts';
import { currentAttempt } from './temporal-tasks.ts';
import type { World } from './world.ts';

/**
 * I7, at the moment it would break: a job's snapshot is committed only after everybody who was hired on it before this
 * reconcile began, in whichever attempt, has a row or was handed to Temporal. Totals with more behind them (`but HIRED
 * 2`) mean that the job is listed again.
 */
export function watchListings(world: World): void {
  const { database } = world.store;
  database.function('simulation_listed', (tenantId, jobId) => {
    const began = beganAt(world, String(tenantId));
    const { temporal, state } = world;
    const hired = state.all<{ id: number }>(
      "select j.id from job_candidates j join stages s on s.id = j.stage_id where s.type = 'HIRED' and j.rejected" +
        ' = 0 and j.job_id = ?',
      Number(jobId),
    );
    for (const { id } of hired) {
      const since = membershipOf(world, String(id)).at(-1)?.from ?? 0;
      if (since >= began) continue;
      if (temporal.accepted.has(`hbsimulation/hire/${String(tenantId)}/${id}`)) continue;
      if (isKnown(world, String(tenantId), String(id))) continue;
      world.violations.push(
        `I7 job ${String(jobId)} counts as listed although ${id}, hired before the reconcile, was neither ` +
          'recorded nor started',
      );
    }
    return 1;
  });
  database.function('simulation_cleared', (tenantId) => {
    if (!world.storeLost) world.violations.push(`I6 a delivery of ${String(tenantId)} was cleared while it waits`);
    return 1;
  });
  database.exec(
    "create trigger cleared before delete on inbox when old.state = 'waiting' begin select " +
      'simulation_cleared(old.tenant_id); end',
  );
  database.exec(
    "create trigger listed after update of listed_totals on jobs when new.listed_totals like '%]' begin select " +
      'simulation_listed(new.tenant_id, new.job_id); end',
  );
}

/** The first attempt's begin, where the reconcile is one that goes on. */
function beganAt(world: World, tenantId: string): number {
  const [kept] = world.store.all('select started_at from reconciles where tenant_id = ?', tenantId);
  const attempt = currentAttempt.getStore()?.at ?? world.timeline.now();
  return Math.min(attempt, Number((kept as { started_at?: number } | undefined)?.started_at ?? attempt));
}

function isKnown(world: World, tenantId: string, id: string): boolean {
  return world.store.all('select 1 from hires where tenant_id = ? and job_candidate_id = ?', tenantId, id).length > 0;
}
