import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'onboarding ready after the deadline unheard',
  patches: [
    {
      file: 'activities/hire/go-on.ts',
      find: "  if (!(await closeUnanswered(deps.store, given, { openedBy }))) return { verdict: 'waiting' };",
      replace: "  if (given.period !== 0) return { verdict: 'waiting' };",
    },
  ],
  caughtBy: tests(/ready after the deadline ends the question/, 'test/activities/hire/strangers.test.ts'),
};
