import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: '402 with an unreadable body taken for a refusal',
  patches: [
    {
      file: 'src/plan/plan-enrolment.ts',
      find: "'INSUFFICIENT_ONBOARDING_CREDITS' && status !== 402",
      replace: "'INSUFFICIENT_ONBOARDING_CREDITS'",
    },
  ],
  caughtBy: tests(
    /missing credits are known by the status of an unreadable body/,
    'test/plan/judge-refused-enrolment.test.ts',
  ),
};
