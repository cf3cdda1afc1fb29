import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hold that a restored store lacks waited for',
  patches: [
    {
      file: 'activities/hire/hold-hire.ts',
      find: '  if (hold === undefined) throw hireBehind(ref);',
      replace: "  if (hold === undefined) return { verdict: 'waiting' };",
    },
  ],
  caughtBy: tests(/ends the run, so that the hire begins anew/, 'test/activities/hire/hold-hire.test.ts'),
};
