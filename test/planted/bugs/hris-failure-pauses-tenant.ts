import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'failure of the HR system pauses the tenant',
  patches: [
    {
      file: 'activities/guarded.ts',
      find: "if (error.code.startsWith('HRIS_')) {",
      replace: "if (error.code === 'NEVER') {",
    },
  ],
  caughtBy: tests(
    /FAIL .*an HR system that refuses its password pauses its own side alone/,
    'test/activities/guarded.test.ts',
  ),
};
