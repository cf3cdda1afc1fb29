import { holdOf } from '../../src/hire/holds.ts';
import { openHold, tenantHoldsOf, widenHold } from '../../src/store/holds.ts';
import type { HoldRow } from '../../src/store/schema.ts';
import type { ActivityDeps } from '../connections.ts';
import { hearAnswer } from '../hear-answer.ts';

/**
 * Asks a tenant one question about applications: new ids join it while nobody has answered. Ids that an earlier
 * question named are not asked about again: a deleted application does not come back, and a store is rebuilt once.
 */
export async function askAbout(
  deps: Pick<ActivityDeps, 'store' | 'signalHire'>,
  tenantId: string,
  code: 'HIRES_NOT_RESTORED' | 'REBUILT_BASELINE',
  ids: readonly string[],
): Promise<void> {
  const { store } = deps;
  for (;;) {
    const holds = await tenantHoldsOf(store, tenantId, code);
    const asked = new Set(holds.flatMap(idsIn));
    const fresh = ids.filter((id) => !asked.has(id));
    if (fresh.length === 0) return;
    const open = holds.find((hold) => hold.closed_at === null);
    if (open === undefined) await openHold(store, { tenantId, ...holdOf(code, { jobCandidateIds: fresh }) });
    else if (open.answered_at === null)
      await widenHold(store, open, holdOf(code, { jobCandidateIds: [...idsIn(open), ...fresh] }));
    else await hearAnswer(deps, open);
  }
}

function idsIn({ details }: Pick<HoldRow, 'details'>): string[] {
  return (JSON.parse(details) as { jobCandidateIds: string[] }).jobCandidateIds;
}
