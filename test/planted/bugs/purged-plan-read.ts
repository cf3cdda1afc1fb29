import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'purged plan read as what the hire was made of',
  patches: [
    {
      file: 'activities/exchange/read-pairs.ts',
      find: "plan === undefined || plan.change === 'purged' ? {}",
      replace: 'plan === undefined ? {}',
    },
  ],
  caughtBy: tests(/over purged hires overwrite nothing/, 'test/activities/hire/after-retention.test.ts'),
};
