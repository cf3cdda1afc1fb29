import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'refusal that nobody hears of',
  patches: [
    { file: 'activities/create-activities.ts', find: "action === 'reject' ? 0 : LASTING_MS", replace: 'LASTING_MS' },
  ],
  caughtBy: tests(/a refusal that no hold answers is an alarm at once/, 'test/activities/watch-activity.test.ts'),
};
