import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'plans keep their personal data',
  patches: [
    {
      file: 'src/store/retention.ts',
      find: '    .set({ change: PURGED })\n',
      replace: "    .set((eb) => ({ plan_id: eb.ref('plan_id') }))\n",
    },
  ],
  caughtBy: tests(/FAIL .*plans and enrolment requests are cleared/, 'test/store/retention.test.ts'),
};
