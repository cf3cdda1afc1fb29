import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'opening the store takes a lock each time',
  patches: [
    {
      file: 'src/store/open-store.ts',
      find: `  if (known !== undefined) return known.id;
`,
      replace: `  if (known !== undefined && kind === 'sqlite') return known.id;
`,
    },
  ],
  caughtBy: tests(
    /FAIL .*a store opens and is read while somebody holds every lock/,
    'test/store/locked-store.test.ts',
  ),
};
