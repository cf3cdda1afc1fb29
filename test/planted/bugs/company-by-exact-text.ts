import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'company known by exact text',
  patches: [
    {
      file: 'activities/guarded.ts',
      find: 'Math.abs(was - is) < 1000',
      replace: "String(job['createdAt']) === String(known['createdAt'])",
    },
  ],
  caughtBy: tests(/FAIL .*createdAt in seconds stays the same company/, 'test/activities/assert-known-company.test.ts'),
};
