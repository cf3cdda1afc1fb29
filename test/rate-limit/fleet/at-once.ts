import { type Durations, type Finding, measure, percent } from './measure.ts';
import { onStage } from './stage.ts';

export interface AtOnce {
  most: number;
  serviceMs: number;
}

const LEAST = 0.85;

/** A limit of calls at once: who learns it, and one client that knows it, in the same run. */
export async function compareAtOnce(
  { most, serviceMs }: AtOnce,
  processes: number,
  newStore: () => Promise<string>,
  durations: Durations,
): Promise<Finding[]> {
  const fleet = { limit: `concurrency:${most}`, serviceMs, processes, backlog: Math.ceil((1.6 * most) / processes) };
  // A call more than the limit takes: the reference is never refused.
  const knowing = { ...fleet, limit: `concurrency:${most + 1}`, processes: 1, backlog: most, isUnlimited: true };
  const [learned, known] = await Promise.all([
    run(await newStore(), fleet, durations),
    run(await newStore(), knowing, durations),
  ]);
  const share = learned.perSecond / known.perSecond;
  const rates = `${learned.perSecond.toFixed(1)} of ${known.perSecond.toFixed(1)}/s`;
  return [
    {
      what: `${most} at once of ${serviceMs} ms, ${processes} processes, of who knows the limit`,
      measured: `${percent(share)} (${rates}, 429s ${percent(learned.share429)})`,
      goal: `>= ${percent(LEAST)}`,
      holds: share >= LEAST,
    },
  ];
}

async function run(
  storeUrl: string,
  told: { limit: string; serviceMs: number; processes: number; backlog: number; isUnlimited?: boolean },
  durations: Durations,
) {
  return onStage(storeUrl, async (stage) => {
    const partner = await stage.limited(told.limit);
    await partner.setFaults([{ kind: 'latency', ms: told.serviceMs }]);
    const { backlog, isUnlimited } = told;
    const tenant = { tenantId: 'acme', ...partner.access, backlog, isUnlimited };
    const callers = await Promise.all(Array.from({ length: told.processes }, () => stage.caller([tenant])));
    return measure({ partner, callers }, durations);
  });
}
