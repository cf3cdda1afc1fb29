import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'answer leads back to the same hold',
  patches: [
    {
      file: 'src/hire/answers.ts',
      find: `    decides: denyFound,`,
      replace: `    decides: (before, given) => (given.details['never'] ? denyFound(before, given) : {}),`,
    },
  ],
  caughtBy: tests(/IDENTITY_AMBIGUOUS answered create leads somewhere else/, 'test/hire/walk-holds.test.ts'),
};
