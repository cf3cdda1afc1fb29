import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hold that nobody can have looked at again',
  patches: [
    {
      file: 'src/hire/hold-catalogue.ts',
      find: `answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, keys,`,
      replace: `answers: ['link', 'create', 'cancel'],
    what: ({ jobCandidateId, keys,`,
    },
  ],
  caughtBy: tests(/IDENTITY_AMBIGUOUS: a person may have it looked at again/, 'test/hire/walk-holds.test.ts'),
};
