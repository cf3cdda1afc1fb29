import type { Fault } from '../../../src/sandbox/faults.ts';
import { type Durations, type Finding, measure, percent } from './measure.ts';
import { onStage } from './stage.ts';

const PER_SECOND = 15;
const LEAST = 0.98;
const BACKLOG = 8;
const PROCESSES = 3;
/** What was learned is in the store. */
const SETTLE_MS = 5_000;
/** Every second call of the other tenant is refused, at any rate. */
const STORM: Fault[] = [{ kind: 'throttle', probability: 0.5, retryAfter: 1 }];

/** Tenant B at its limit, alone and beside a tenant that its partner throttles, in turns, in the same processes. */
export async function measureNeighbour(storeUrl: string, { learnMs, ms }: Durations): Promise<Finding[]> {
  return onStage(storeUrl, async (stage) => {
    const [throttling, partner] = [await stage.limited('token:5'), await stage.limited(`token:${PER_SECOND}`)];
    await throttling.setFaults(STORM);
    const b = { tenantId: 'b', ...partner.access, backlog: BACKLOG };
    const a = { tenantId: 'a', ...throttling.access, backlog: BACKLOG };
    const admitted = { alone: 0, beside: 0 };
    for (const [n, part] of (['alone', 'beside', 'alone', 'beside'] as const).entries()) {
      const tenants = part === 'alone' ? [b] : [a, b];
      const callers = await Promise.all(Array.from({ length: PROCESSES }, () => stage.caller(tenants)));
      const measured = await measure({ partner, callers }, { learnMs: n === 0 ? learnMs : SETTLE_MS, ms });
      admitted[part] += measured.answered - measured.limited;
    }
    const share = admitted.beside / admitted.alone;
    return [
      {
        what: 'tenant B beside a throttled one, of what it does alone',
        measured: `${percent(share)} (${admitted.beside} and ${admitted.alone} calls)`,
        goal: `>= ${percent(LEAST)}`,
        holds: share >= LEAST,
      },
    ];
  });
}
