import { expect, test } from 'vitest';
import { twoWayFields } from './fields.ts';
import { inOwnTime } from './own-time.ts';
import { type Conditions, LIMITS } from './process.ts';
import { createWorld, type World } from './world.ts';

const CALM = { mishap: () => undefined, updateMishap: () => undefined, later: () => undefined };
const costCentre = twoWayFields.filter(({ name }) => name === 'costCentre');
const FIRST_RUN = 'first';

/** Whether the process died, which it does at its nth interruption. */
async function runUntil(world: World, nth: number): Promise<boolean> {
  const death = Promise.withResolvers<boolean>();
  let left = nth;
  const pause: Conditions['pause'] = async () => {
    left -= 1;
    if (left > 0) return undefined;
    death.resolve(true);
    return new Promise<never>(() => undefined);
  };
  const whole = world.exchange(FIRST_RUN, { ...CALM, pause }).then(() => false);
  return Promise.race([whole, death.promise]);
}

/** The process dies at its nth interruption; others go on with its run until it is over. */
async function dieAt(nth: number): Promise<{ died: boolean; state: string | undefined; shown: unknown }> {
  const world = await createWorld();
  const [field] = costCentre;
  if (field === undefined) throw new Error('there is no such field');
  const person = await world.hire();
  await world.editHris(person, field, 'CC-1');
  const died = await inOwnTime(world.clock, () => runUntil(world, nth));
  let step = await world.exchange(FIRST_RUN, { ...CALM, pause: async () => undefined });
  for (let n = 0; step.state === 'running' && n < 3; n += 1) {
    world.clock.advance(4 * LIMITS.giveUpMs);
    step = await world.exchange(FIRST_RUN, { ...CALM, pause: async () => undefined });
  }
  const held = await world.read(person);
  await world.close();
  return { died, state: step.state, shown: held?.partner['costCentre'] };
}

test('wherever a process dies, a run that ends as done has brought every edit to the other side', async () => {
  let nth = 1;
  for (; ; nth += 1) {
    const { died, state, shown } = await dieAt(nth);
    if (state === 'done') expect({ nth, shown }).toEqual({ nth, shown: 'CC-1' });
    if (!died) break;
  }
  expect(nth).toBeGreaterThan(20);
});
