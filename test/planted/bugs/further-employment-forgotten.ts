import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a restored store looks for a further employment by the plain reference alone',
  patches: [
    {
      file: 'activities/hire/apply-plan.ts',
      find: 'const own = [true, false].map((isFurther) =>',
      replace: 'const own = [false].map((isFurther) =>',
    },
  ],
  caughtBy: tests(/knows a create that was refused/, 'test/activities/hire/further-employment.test.ts'),
};
