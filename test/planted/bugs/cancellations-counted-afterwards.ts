import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'cancellations counted, not reserved',
  patches: [
    {
      file: 'src/store/hires.ts',
      find: "            eb('step', '=', 'cancel'),",
      replace: "            eb('step', '=', 'ended'),",
    },
  ],
  caughtBy: tests(/no more are ended than an hour may have/, 'test/store/hire-facts.test.ts'),
};
