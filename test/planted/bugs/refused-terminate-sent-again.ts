import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'refused terminate sent again each minute',
  patches: [
    {
      file: 'activities/hire/cancel-hire.ts',
      find: `  const { code, message } = once.error;
`,
      replace: `  if (ids.length > 0) throw Object.assign(once.error, { action: 'retry' });
  const { code, message } = once.error;
`,
    },
  ],
  caughtBy: tests(
    /a refused end of an enrolment is asked about and not sent again/,
    'test/activities/hire/strangers.test.ts',
  ),
};
