import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a rescoring whose answer was lost is begun again',
  patches: [
    {
      file: 'activities/rescoring/push-rescoring.ts',
      find: "return { kind: 'unprovable' };",
      replace: "return { kind: 'absent' };",
    },
  ],
  caughtBy: tests(/one run an ask/, 'test/activities/rescoring/push-rescoring.test.ts'),
};
