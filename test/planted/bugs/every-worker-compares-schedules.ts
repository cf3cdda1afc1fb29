import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'every worker compares the schedules of all tenants',
  patches: [
    {
      file: 'src/worker/keep-schedules.ts',
      find: '    if (isPoked || (isOurs && performance.now() >= nextAt)) {',
      replace: '    if (isPoked || performance.now() >= nextAt) {',
    },
  ],
  caughtBy: tests(/FAIL .*of two workers one compares schedules/, 'test/worker/keep-schedules.test.ts'),
};
