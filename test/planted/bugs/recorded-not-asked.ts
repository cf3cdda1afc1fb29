import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'somebody hired before go-live taken for a stranger',
  patches: [
    {
      file: 'src/person/person.ts',
      find: '  if (before === undefined && recorded !== undefined && !isTold)',
      replace: '  if (before !== undefined && recorded !== undefined && !isTold)',
    },
  ],
  caughtBy: tests(
    /hired for another job is asked about before the credit/,
    'test/activities/hire/known-person.test.ts',
  ),
};
