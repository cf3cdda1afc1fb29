import { createWorld } from './create-world.ts';
import { answerHolds } from './operator.ts';
import { sendPeople } from './people.ts';
import { has, type Scenario } from './scenario.ts';
import { beginStorm, endStorm } from './storm.ts';
import { policies, simulatedTenant } from './tenants.ts';
import { prepareMapping } from './worker.ts';
import type { World } from './world.ts';

const STORM_MS = 480_000;
/**
 * Twice what a hire needs on a day without faults: a reconcile (60 s), an onboarding of two minutes, and the steps
 * around them. After the
 * storm and the last thing people did, everything is quiet within this time (I8).
 */
const CALM_MS = 400_000;
const TURN_MS = 30_000;
const DAY_MS = 25 * 3_600_000;
const DEADLINE_MS = 700_000;
const AFTER_NIGHT_MS = 130_000;
const ROUNDS = 8;
/**
 * More for each of two things, and they add up: a question that is first answered with a wrong id takes a round more
 * each time; and the hires of somebody with several candidates are asked about one after another, because one waits
 * until the other has its employee. A question that comes back for ever is seen after any number of rounds.
 */
const MORE_ROUNDS = 6;

/** Reads what needs a real disk, before this process's clock is taken over. */
export async function prepareSeeds(): Promise<void> {
  const facts = { id: 'a', companyId: 1, flowId: 'f', idField: 'i', connection: 'c', skipOnboarding: false };
  for (const conditions of [false, true])
    await prepareMapping(simulatedTenant({ ...facts, stagesApart: false, conditions }));
}

/** While it comes to rest after the storm, after a night, and after everything that was asked was answered. */
export type Moment = 'soon' | 'calm' | 'answered';

export interface Judge {
  isQuiet(world: World): boolean;
  /** Ends the seed by answering `enough` after the night. */
  check(world: World, when: Moment): 'enough' | undefined;
}

/** Plays one seed: a storm, a calm, a night, and then somebody who answers what was asked. */
export async function runSeed(scenario: Scenario, { isQuiet, check }: Judge): Promise<World> {
  const world = await createWorld(scenario);
  const { timeline } = world;
  const start = timeline.now();
  beginStorm(world, start);
  sendPeople(world);
  if (scenario.answersEarly) answerEarly(world);
  await timeline.runUntil(start + STORM_MS);
  endStorm(world);
  // A reconcile that began a moment ago, and waits for its permits, is none that hangs.
  const isAtRest = (): boolean => isQuiet(world) && world.temporal.pending().length === 0;
  const comeToRest = async (from: () => number): Promise<void> => {
    while (!isAtRest() && timeline.now() < from() + CALM_MS) await timeline.runUntil(timeline.now() + TURN_MS);
  };
  const restAt = (): number => Math.max(start + STORM_MS, world.lastDeedAt);
  await timeline.runUntil(restAt() + policies.reconcileMs);
  await comeToRest(restAt);
  check(world, 'soon');
  timeline.sleepUntil(timeline.now() + DAY_MS);
  await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS);
  // A deadline that began anew with a lost workflow passes too.
  timeline.sleepUntil(timeline.now() + DEADLINE_MS);
  await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS);
  // A worker that had nothing to do with a tenant since its key was replaced learns it only now, and pauses the tenant
  // for a moment.
  const morning = timeline.now();
  await comeToRest(() => morning);
  if (check(world, 'calm') === 'enough') return world;
  const longer = (['wrong-answers', 'merged-candidates'] as const).filter((extra) => has(world, extra));
  const rounds = ROUNDS + longer.length * MORE_ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    if ((await answerHolds(world)) === 0) break;
    await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS);
    timeline.sleepUntil(timeline.now() + DEADLINE_MS);
    await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS / 2);
  }
  const evening = timeline.now();
  await comeToRest(() => evening);
  check(world, 'answered');
  return world;
}

export function closeWorld(world: World): void {
  world.state.close();
  world.store.database.close();
}

function answerEarly(world: World): void {
  const turn = (): void => {
    if (world.calm) return;
    void answerHolds(world).finally(() => world.timeline.at(world.timeline.now() + 30_000, turn));
  };
  turn();
}
