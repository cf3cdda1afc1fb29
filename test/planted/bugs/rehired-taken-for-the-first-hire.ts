import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a backup that knows only the first hire of somebody hired twice takes it for the one that goes on',
  patches: [{ file: 'src/plan/plan-enrolment.ts', find: 'behind >= next', replace: 'behind > next + 9' }],
  caughtBy: tests(/their second hire goes on, and the first one is over/, 'test/activities/hire/rehire.test.ts'),
};
