import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'lost shared read fails everybody',
  patches: [
    {
      file: 'activities/presence/fetch-job-candidates.ts',
      find: 'const REPEAT_AFTER_MS = [50, 250];',
      replace: 'const REPEAT_AFTER_MS: number[] = [];',
    },
  ],
  caughtBy: tests(/whose answer is lost is repeated/, 'test/activities/presence/share-reads.test.ts'),
};
