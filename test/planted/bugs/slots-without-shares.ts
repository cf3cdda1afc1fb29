import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'one tenant takes every activity slot',
  patches: [
    {
      file: 'activities/create-activities.ts',
      find: '(taken() - holder.taken)) / 2));',
      replace: '(taken() - holder.taken)) / 1));',
    },
  ],
  caughtBy: tests(
    /FAIL .*each tenant gets at most half of what the others left/,
    'test/activities/tenant-slots.test.ts',
  ),
};
