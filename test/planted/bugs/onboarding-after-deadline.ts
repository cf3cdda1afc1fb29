import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'onboarding ready after the deadline unheard',
  patches: [
    {
      file: 'activities/hire/go-on.ts',
      find: "  return (await closeUnanswered(deps.store, given)) ? onboarding : { verdict: 'waiting' };",
      replace: "  return given.period === 0 ? onboarding : { verdict: 'waiting' };",
    },
  ],
  caughtBy: tests(/ready after the deadline ends the question/, 'test/activities/hire/strangers.test.ts'),
};
