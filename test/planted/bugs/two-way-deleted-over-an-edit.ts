import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'deleted over an edit',
  patches: [
    {
      file: 'activities/exchange/send-values.ts',
      find: '  if (!isOver(own))\n',
      replace: '  if (own.id === "")\n',
    },
  ],
  caughtBy: tests(
    /FAIL .*a value that somebody typed before it was deleted stays/,
    'test/activities/exchange-refusals.test.ts',
  ),
};
