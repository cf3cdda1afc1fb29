import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a worker does not end while a connection hangs',
  patches: [
    {
      file: 'src/app.ts',
      find: 'await within(REST_MS, Promise.allSettled(connections()));',
      replace: 'await Promise.allSettled(connections());',
    },
  ],
  caughtBy: tests(
    /FAIL .*a worker ends in less than five seconds, although everything in it hangs/,
    'test/worker/end-worker.test.ts',
  ),
};
