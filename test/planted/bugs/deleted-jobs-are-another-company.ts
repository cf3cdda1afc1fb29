import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'company with its jobs deleted taken for another',
  patches: [
    {
      file: 'activities/guarded.ts',
      find: `evidence === 'none' && (await`,
      replace: `evidence === 'other' && (await`,
    },
  ],
  caughtBy: tests(
    /with every known job deleted the people who are known tell the company/,
    'test/activities/assert-known-company.test.ts',
  ),
};
