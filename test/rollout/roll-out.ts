import type { Rollout } from '../../src/cli/rollout.ts';
import { ConnectorError } from '../../src/errors.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { takeApplicants } from '../harness/hiring.ts';
import { isExactlyOnce, type Judged } from '../harness/judge-hires.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { startWorld, until, type World } from '../harness/world.ts';
import { openVersion } from '../upgrade/open-version.ts';
import { judge, untilBaseline, untilDone } from '../upgrade/upgrade.ts';

export interface RolledOut {
  judged: Judged;
  /** Hires in the store by state. */
  states: Partial<Record<string, number>>;
  failures: string[];
  /** Workflow tasks and activities that each version's workers ended. */
  tasks: { base: number; current: number };
  /** What `hirebridge rollout` shows once the work went back from a share, and at the end. */
  stopped: Rollout;
  last: Rollout;
  /** Tasks of a worker that no version had sent work to. */
  beforeItsTurn: number;
}

const [OLD, NEW] = ['1.0.0', '1.1.0'];

/**
 * A roll-out by Temporal's worker versions: so many hires under way on one build, a share and then all of the work sent
 * to the next, back to the first in the middle, a worker of the next killed; then everybody's onboarding ends.
 */
export async function rollOut(options: {
  temporalAddress: string;
  storeUrl?: string;
  hires: number;
}): Promise<RolledOut> {
  const { hires, ...where } = options;
  const world = await startWorld({ ...where, jobs: 3, candidates: hires + 10, env: shortWaits });
  const base = openVersion(world, 'base', { env: { HIREBRIDGE_BUILD_ID: OLD } });
  const current = openVersion(world, 'next', { env: { HIREBRIDGE_BUILD_ID: NEW } });
  const finish = { may: false };
  try {
    const { webhookUrl } = await base.receiver();
    await world.control.act('setWebhook', { url: webhookUrl });
    await Promise.all([base.worker(), base.worker()]);
    await route(world, OLD);
    await untilBaseline(world);
    const traffic = startTraffic(world, await takeApplicants(world, hires), { mayFinish: () => finish.may });
    await traffic.keep(Math.ceil(hires / 4));
    const [doomed] = await Promise.all([current.worker(), current.worker()]);
    await traffic.keep(Math.ceil(hires / 3));
    const { tasks: early } = await judge(world, options.temporalAddress, traffic, { base, current });
    await route(world, NEW, '--percent', '50');
    await traffic.keep(Math.ceil((2 * hires) / 5));
    const stopped = await route(world, OLD);
    await route(world, NEW, '--percent', '25');
    await traffic.keep(Math.ceil(hires / 2));
    await route(world, NEW);
    await traffic.keep(Math.ceil((3 * hires) / 4));
    await route(world, OLD);
    await doomed.kill();
    await traffic.keep(hires);
    finish.may = true;
    await untilDone(world, traffic, hires);
    const judged = await judge(world, options.temporalAddress, traffic, { base, current });
    return { ...judged, stopped, last: await route(world), beforeItsTurn: early.current };
  } finally {
    await base.close();
    await current.close();
    await world.close();
  }
}

/** Until the workers of that build have asked for work, the command refuses. */
async function route(world: World, ...asked: string[]): Promise<Rollout> {
  let said = '';
  const done = async (): Promise<boolean> => {
    const { code, stdout, stderr } = await world.cli(['rollout', ...asked, '--json']);
    said = code === 0 ? stdout : stderr;
    return code === 0;
  };
  await until(`hirebridge rollout ${asked.join(' ')}`, done, { timeoutMs: 60_000, everyMs: 500 }).catch((cause) => {
    throw new ConnectorError({ code: 'ROLLOUT', action: 'reject', message: said, cause });
  });
  return JSON.parse(said) as Rollout;
}

/** What is wrong with a roll-out; nothing where every hire was made once and nobody stumbled. */
export function faultsOf(
  { judged, states, failures, tasks, last, stopped, beforeItsTurn }: RolledOut,
  hires: number,
): string[] {
  const wrong = {
    [`not each hire exactly once: ${JSON.stringify(judged)}`]: judged.hires !== hires || !isExactlyOnce(judged),
    [`not every hire is done: ${JSON.stringify(states)}`]: states['done'] !== hires,
    [`replays or activities failed: ${failures.join(', ')}`]: failures.length > 0,
    [`not both versions worked: ${JSON.stringify(tasks)}`]: tasks.base === 0 || tasks.current === 0,
    [`a version worked before work was sent to it: ${beforeItsTurn} tasks`]: beforeItsTurn > 0,
    [`the work is not back at ${OLD}: ${JSON.stringify(last)}`]: !isBack(last),
    [`a share stays with ${NEW}: ${JSON.stringify(stopped)}`]: !isBack(stopped),
  };
  return Object.entries(wrong).flatMap(([fault, is]) => (is ? [fault] : []));
}

function isBack({ current, ramping, builds }: Rollout): boolean {
  return current === OLD && ramping === undefined && builds.some((one) => one.build === OLD && one.state === 'current');
}
