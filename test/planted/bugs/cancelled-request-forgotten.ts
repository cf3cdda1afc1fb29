import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a hire that is cancelled while the outcome of its create is unknown leaves nothing to ask about',
  patches: [
    {
      file: 'activities/hire/cancel-hire.ts',
      find: 'releasePeople(open, ref, isUnsettled)',
      replace: 'releasePeople(open, ref)',
    },
  ],
  caughtBy: tests(
    /whose request was forgotten and cancelled is asked about/,
    'test/activities/hire/pending-hire.test.ts',
  ),
};
