import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'bodies of old deliveries are kept',
  patches: [
    {
      file: 'src/store/retention.ts',
      find: ".set({ body: '' })",
      replace: '.set({ failures: 0 })',
    },
  ],
  caughtBy: tests(/FAIL .*the bodies of old deliveries are cleared/, 'test/store/retention.test.ts'),
};
