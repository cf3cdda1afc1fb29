import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hints lost over continue-as-new',
  patches: [
    {
      file: 'workflows/hire.ts',
      find: `hints: hints.all() }`,
      replace: `hints: [] }`,
    },
  ],
  caughtBy: tests(/what was heard while the last activity ran is carried on/, 'test/workflow/hints.test.ts'),
};
