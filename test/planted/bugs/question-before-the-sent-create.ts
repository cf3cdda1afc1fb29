import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a hire asks about its person before it looks for what its create made',
  patches: [
    {
      file: 'activities/hire/go-on.ts',
      find: 'const finished = await finishSent(found);',
      replace: "const finished = found.creation?.outcome === 'open' ? undefined : await finishSent(found);",
    },
  ],
  caughtBy: tests(/FAIL .*finds the second employee before it asks/, 'test/activities/hire/taken-over.test.ts'),
};
