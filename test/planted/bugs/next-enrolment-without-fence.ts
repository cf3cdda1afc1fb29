import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'stalled worker nulls a newer enrolment',
  patches: [{ file: 'src/store/enrolments.ts', find: '    { enrolment: nth },\n', replace: '' }],
  caughtBy: tests(
    /a worker that stood still neither counts up nor describes a newer enrolment/,
    'test/store/hire-facts.test.ts',
  ),
};
