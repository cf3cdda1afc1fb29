import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { jain } from '../statistics.ts';
import { type Durations, type Finding, liveWaits, type Measured, measure, percent } from './measure.ts';
import { onStage } from './stage.ts';

export interface LimitKind {
  name: string;
  /** As `hirebridge sandbox --limit` takes it. */
  limit: string;
  perSecond: number;
  /** 429s that come at any rate; its 429s and waits are not judged. */
  noise?: Fault[];
}

type Seen = Measured & { writesPerSecond: number; writesIdle: number };

const BACKLOG = 16;
/** Of what the limit allows. */
const LIVE_SHARE = 0.1;
const IDLE_MS = 10_000;
const most = { ratio: 1.3, writes: 2 };
const least = { jain: 0.98, used: 0.85, usedInNoise: 0.5 };

/** One process and three, each before a sandbox with the same limit, at the same time. */
export async function compareOneAndThree(
  kind: LimitKind,
  newStore: () => Promise<string>,
  durations: Durations,
): Promise<{ findings: Finding[]; one: Seen; three: Seen }> {
  const [one, three] = await Promise.all([
    saturate(kind, 1, await newStore(), durations),
    saturate(kind, 3, await newStore(), durations),
  ]);
  return { findings: [...judge(kind, 'one process', one, 1), ...judge(kind, 'three', three, 3)], one, three };
}

/** Over all kinds of limits: one alone meets its limit too seldom to compare. */
export function compareShares(pairs: readonly { one: Measured; three: Measured }[]): Finding {
  const shareOf = (of: 'one' | 'three'): number => {
    const limited = pairs.reduce((sum, pair) => sum + pair[of].limited, 0);
    return limited / pairs.reduce((sum, pair) => sum + pair[of].answered, 0);
  };
  const ratio = shareOf('three') / shareOf('one');
  return {
    what: '429s of three processes to those of one, all limits',
    measured: `${percent(shareOf('three'))} to ${percent(shareOf('one'))}: ${ratio.toFixed(2)}`,
    goal: `<= ${most.ratio}`,
    holds: ratio <= most.ratio,
  };
}

async function saturate(
  { limit, perSecond, noise }: LimitKind,
  processes: number,
  storeUrl: string,
  { learnMs, ms }: Durations,
): Promise<Seen> {
  return onStage(storeUrl, async (stage) => {
    const partner = await stage.limited(limit);
    if (noise !== undefined) await partner.setFaults(noise);
    const liveEveryMs = (processes * 1_000) / (LIVE_SHARE * perSecond);
    const tenant = { tenantId: 'acme', ...partner.access, backlog: BACKLOG, liveEveryMs };
    const idle = await stage.caller([{ ...tenant, tenantId: 'idle', backlog: 0, liveEveryMs: undefined }]);
    const callers = await Promise.all(Array.from({ length: processes }, () => stage.caller([tenant])));
    await pause(learnMs);
    const before = await stage.writes();
    const measured = await measure({ partner, callers }, { learnMs: 0, ms });
    const after = await stage.writes();
    await pause(IDLE_MS);
    const writesIdle = (await stage.writes()) - after;
    await idle.stop();
    return { ...measured, writesPerSecond: ((after - before) * 1000) / ms / processes, writesIdle };
  });
}

function judge({ name, perSecond, noise }: LimitKind, who: string, seen: Seen, processes: number): Finding[] {
  const live = liveWaits(seen.seen);
  const mostWaitMs = 2_000 / perSecond + live.pauseMs;
  const what = (told: string): string => `${name}, ${who}: ${told}`;
  const fairness = jain(seen.calls);
  const used = seen.perSecond / perSecond;
  const leastUsed = noise === undefined ? least.used : least.usedInNoise;
  const fair: Finding = {
    what: what('Jain'),
    measured: `${fairness.toFixed(3)} (${seen.calls.join(' ')})`,
    goal: `>= ${least.jain}`,
    holds: fairness >= least.jain,
  };
  return [
    {
      what: what('used, and 429s'),
      measured: `${percent(used)}, ${percent(seen.share429)}`,
      goal: `>= ${percent(leastUsed)}`,
      holds: used >= leastUsed,
    },
    ...(processes > 1 ? [fair] : []),
    {
      what: what('wait of a live call, p50 and p99'),
      measured: `${live.p50.toFixed(0)} and ${live.p99.toFixed(0)} ms of ${live.count}`,
      goal: `p99 <= ${mostWaitMs.toFixed(0)} ms`,
      holds: noise !== undefined || live.p99 <= mostWaitMs,
    },
    {
      what: what('store writes a second and process, and idle'),
      measured: `${seen.writesPerSecond.toFixed(2)}, ${seen.writesIdle}`,
      goal: `<= ${most.writes}, 0`,
      holds: seen.writesPerSecond <= most.writes && seen.writesIdle === 0,
    },
  ];
}
