import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'deletion from one pass',
  patches: [
    {
      file: 'activities/exchange/exchange-pairs.ts',
      find: 'const isGone = state.missing_side === side;',
      replace: 'const isGone = side !== undefined;',
    },
  ],
  caughtBy: tests(
    /FAIL .*a person who is gone at the partner is believed gone after a second run/,
    'test/activities/exchange-pairs.test.ts',
  ),
};
