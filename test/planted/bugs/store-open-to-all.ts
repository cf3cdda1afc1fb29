import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'the store is readable by everybody on the machine',
  patches: [
    {
      file: 'src/store/open-store.ts',
      find: '{ ...rest, ownerOnly: true }',
      replace: '{ ...rest, ownerOnly: false }',
    },
  ],
  caughtBy: tests(/FAIL .*may be read by its owner alone/, 'test/sql/owner-only.test.ts'),
};
