import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hints carried on and not acted upon',
  patches: [
    {
      file: 'workflows/hire.ts',
      find: `hints.add(input.carried?.hints ?? []);`,
      replace: `hints.add([]);`,
    },
  ],
  caughtBy: tests(/a run that continues another one acts upon the hints/, 'test/workflow/hints.test.ts'),
};
