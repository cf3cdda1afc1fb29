import { createWorld } from './create-world.ts';
import { answerHolds } from './operator.ts';
import { sendPeople } from './people.ts';
import type { Scenario } from './scenario.ts';
import { beginStorm, endStorm } from './storm.ts';
import { simulatedTenant } from './tenants.ts';
import { prepareMapping } from './worker.ts';
import type { World } from './world.ts';

const STORM_MS = 480_000;
const CALM_MS = 200_000;
const DAY_MS = 25 * 3_600_000;
const DEADLINE_MS = 700_000;
const AFTER_NIGHT_MS = 130_000;
const ROUNDS = 8;

/** Reads what needs a real disk, before this process's clock is taken over. */
export async function prepareSeeds(): Promise<void> {
  await prepareMapping(
    simulatedTenant({ id: 'a', companyId: 1, flowId: 'f', idField: 'i', connection: 'c', skipOnboarding: false }),
  );
}

/** Plays one seed: a storm, a calm, a night, and then somebody who answers what was asked. */
export async function runSeed(
  scenario: Scenario,
  check: (world: World, when: 'calm' | 'answered') => void,
): Promise<World> {
  const world = await createWorld(scenario);
  const { timeline } = world;
  const start = timeline.now();
  beginStorm(world, start);
  sendPeople(world);
  if (scenario.answersEarly) answerEarly(world);
  await timeline.runUntil(start + STORM_MS);
  endStorm(world);
  await timeline.runUntil(start + STORM_MS + CALM_MS);
  timeline.sleepUntil(timeline.now() + DAY_MS);
  await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS);
  // A deadline that began anew with a lost workflow passes too.
  timeline.sleepUntil(timeline.now() + DEADLINE_MS);
  await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS);
  check(world, 'calm');
  for (let round = 0; round < ROUNDS; round += 1) {
    if ((await answerHolds(world)) === 0) break;
    await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS);
    timeline.sleepUntil(timeline.now() + DEADLINE_MS);
    await timeline.runUntil(timeline.now() + AFTER_NIGHT_MS / 2);
  }
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
