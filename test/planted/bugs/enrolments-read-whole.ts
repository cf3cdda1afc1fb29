import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'everybody ever enrolled is read for the few who are waited for',
  patches: [
    {
      file: 'activities/reconcile/signal-hires.ts',
      find: 'cursor.page === 1 && waiting.length <= pagesLeft;',
      replace: 'cursor.page === 1 && waiting.length < 0 * pagesLeft;',
    },
  ],
  caughtBy: tests(
    /FAIL .*few of many enrolled people are waited for, they are read one by one/,
    'test/activities/reconcile/onboardings.test.ts',
  ),
};
