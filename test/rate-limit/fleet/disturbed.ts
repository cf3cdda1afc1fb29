import { setTimeout as pause } from 'node:timers/promises';
import { type Durations, type Finding, liveWaits, measure, percent } from './measure.ts';
import { onStage } from './stage.ts';

const MINUTE_MS = 60_000;
const MOST_429S = 2;
const BACKLOG = 8;
const slow = { limit: 'token:5', perSecond: 5 };
const usual = { limit: 'token:20', perSecond: 20 };
const LEAST_USED = 0.95;
const MOST_SHARE = 0.005;

/** Three processes at their limit, all ended by SIGKILL in the middle of it and started again. */
export async function killAll(storeUrl: string, { learnMs }: Durations): Promise<Finding[]> {
  return onStage(storeUrl, async (stage) => {
    const partner = await stage.limited(slow.limit);
    const tenant = { tenantId: 'acme', ...partner.access, backlog: BACKLOG };
    const start = () => Promise.all(Array.from({ length: 3 }, () => stage.caller([tenant])));
    const before = await start();
    await pause(2 * learnMs);
    for (const caller of before) caller.kill();
    const callers = await start();
    const { limited, perSecond } = await measure({ partner, callers }, { learnMs: 0, ms: MINUTE_MS });
    return [
      {
        what: '429s in the minute after SIGKILL of all three',
        measured: `${limited}, ${percent(perSecond / slow.perSecond)} used`,
        goal: `<= ${MOST_429S}`,
        holds: limited <= MOST_429S,
      },
    ];
  });
}

/** Two processes, one of which has its clock set back by a minute and forth again, all the time. */
export async function shiftClock(storeUrl: string, { learnMs, ms }: Durations): Promise<Finding[]> {
  return onStage(storeUrl, async (stage) => {
    const partner = await stage.limited(usual.limit);
    const tenant = { tenantId: 'acme', ...partner.access, backlog: BACKLOG, liveEveryMs: 1_000 };
    const shifted = await stage.caller([tenant], { hasShiftedClock: true });
    const callers = [shifted, await stage.caller([tenant])];
    const measured = await measure({ partner, callers }, { learnMs, ms });
    const used = measured.perSecond / usual.perSecond;
    const live = liveWaits(measured.seen);
    const mostWaitMs = 2_000 / usual.perSecond + live.pauseMs;
    return [
      {
        what: 'a process clock set back and forth: used, 429s',
        measured: `${percent(used)}, ${percent(measured.share429)} (calls ${measured.calls.join(' ')})`,
        goal: `>= ${percent(LEAST_USED)}, <= ${percent(MOST_SHARE)}`,
        holds: used >= LEAST_USED && measured.share429 <= MOST_SHARE,
      },
      {
        what: 'the same: wait of a live call, p99',
        measured: `${live.p99.toFixed(0)} ms of ${live.count}`,
        goal: `<= ${mostWaitMs.toFixed(0)} ms`,
        holds: live.p99 <= mostWaitMs,
      },
    ];
  });
}
