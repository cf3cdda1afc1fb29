import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'total believed more than empty page',
  patches: [
    {
      file: 'src/streams/page-outcome.ts',
      find: '(page?.total ?? run.total ?? 0))',
      replace: '(page === undefined ? 0 : (page.total ?? run.total ?? 0)))',
    },
  ],
  caughtBy: tests(
    /FAIL .*a total that is too high makes the first pass partial/,
    'test/activities/streams/sync-pages.test.ts',
  ),
};
