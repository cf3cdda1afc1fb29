import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a hire that is cancelled for another reason ends without asking about its lost create',
  patches: [
    {
      file: 'activities/hire/cancel-hire.ts',
      find: 'return ABOUT_CREATE.some((one) => one === code);',
      replace: 'return code !== undefined;',
    },
  ],
  caughtBy: tests(
    /is asked about if a person cancelled the hire without knowing of the lost request/,
    'test/activities/hire/left-while-created.test.ts',
  ),
};
