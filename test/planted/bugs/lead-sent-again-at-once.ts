import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a lead without an answer is sent again at once',
  patches: [
    {
      file: 'activities/sourcing/push-sourcing.ts',
      find: "else if (before?.state === 'sent' && leftMs(run, before, run.now) > 0)",
      replace: "else if (before?.state === 'sent' && leftMs(run, before, run.now) > 1e15)",
    },
  ],
  caughtBy: tests(/a lost answer is looked up after its deadline/, 'test/activities/sourcing/push-sourcing.test.ts'),
};
