import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hold that cannot be ended',
  patches: [
    {
      file: 'src/hire/hold-catalogue.ts',
      find: `answers: ['retry', 'keep'],
    what: ({ jobCandidateId, onboardingCandidateIds,`,
      replace: `answers: ['retry'],
    what: ({ jobCandidateId, onboardingCandidateIds,`,
    },
  ],
  caughtBy: tests(
    /TERMINATE_REFUSED: a person may have it looked at again, and may end it/,
    'test/hire/walk-holds.test.ts',
  ),
};
