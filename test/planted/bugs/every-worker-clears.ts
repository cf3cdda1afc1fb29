import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'every worker does the chores of all',
  patches: [
    {
      file: 'src/worker/chores.ts',
      find: `    if (!isOurs) return;
`,
      replace: '',
    },
  ],
  caughtBy: tests(/FAIL .*of two workers one (?:clears what is old|asks the HR systems)/, 'test/worker/chores.test.ts'),
};
