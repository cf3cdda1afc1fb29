import type { ActivityDeps } from '../../../activities/connections.ts';
import { finishHire } from '../../../activities/hire/finish-hire.ts';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold } from '../../../activities/hire/hold-hire.ts';
import { isConnectorError } from '../../../src/errors.ts';
import { latestHire } from '../../../src/store/hires.ts';
import type { Store } from '../../../src/store/open-store.ts';
import type { Human } from './situations.ts';

/** One hire, and what became of it. */
export interface PlayedHire {
  story: string;
  human: Human;
  jobCandidateId: string;
  /** Undefined where it is held. */
  employeeId: string | undefined;
}

interface Playing {
  deps: ActivityDeps;
  store: Store;
  open: (tenantId: string, jobCandidateId: string) => Promise<unknown>;
}

/** Goes on with a hire until it is over, or as far as it comes now: then it says for how long to wait. */
type Way = () => Promise<'over' | { waitMs: number; why: string }>;

/** As its workflow does: what cannot be said yet is asked again when its time has come. */
export function wayOf({ deps, store, open }: Playing, hire: PlayedHire): Way {
  const { jobCandidateId } = hire;
  const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
  const steps = [
    async () => void (await open('acme', jobCandidateId)),
    async () => hold(await employ(deps, ref), 'employee'),
    async () => hold(await finishHire(deps, ref), 'verified'),
    async () => {
      hire.employeeId = (await latestHire(store, 'acme', jobCandidateId))?.employee_id ?? undefined;
    },
  ];
  async function hold(result: Awaited<ReturnType<typeof employ | typeof finishHire>>, due: string): Promise<void> {
    if (result.verdict === due) return;
    if (result.verdict !== 'hold') throw new Error(`${hire.story}: ${JSON.stringify(result)}`);
    await openHold(deps, { ...ref, hold: result.hold });
    steps.length = 0;
  }
  return async () => {
    try {
      while (steps.length > 0) {
        await steps[0]?.();
        steps.shift();
      }
      return 'over';
    } catch (error) {
      if (!isConnectorError(error) || !['unknown', 'retry', 'throttle'].includes(error.action)) throw error;
      return { waitMs: error.retryAfterMs ?? 1_000, why: error.message };
    }
  };
}

/** The clock moves while nothing is on its way: a deadline never passes under a request that is. */
export async function inRounds(clock: { ahead: number }, ways: readonly Way[]): Promise<void> {
  let open = [...ways];
  let why: string[] = [];
  for (let round = 0; open.length > 0; round += 1) {
    if (round === 30) throw new Error([`${open.length} hires came to no end:`, ...why].join('\n'));
    const came = await Promise.all(open.map(async (way) => ({ way, to: await way() })));
    const waiting = came.flatMap(({ way, to }) => (to === 'over' ? [] : [{ way, ...to }]));
    clock.ahead += Math.max(0, ...waiting.map(({ waitMs }) => waitMs));
    open = waiting.map(({ way }) => way);
    why = waiting.map((one) => one.why);
  }
}
