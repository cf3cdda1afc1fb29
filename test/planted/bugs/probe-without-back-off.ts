import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'probe of a paused tenant without back-off',
  patches: [
    {
      file: 'src/worker/run-chores.ts',
      find: '    backOff.failed(key, again.mostMs);',
      replace: '    backOff.succeeded(key, 0);',
    },
  ],
  caughtBy: tests(
    /FAIL .*a paused tenant’s partner is called by its probe alone, ever later/,
    'test/worker/chores.test.ts',
  ),
};
