import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'namesakes hired at the same moment unasked',
  patches: [
    {
      file: 'activities/hire/ask-person.ts',
      find: '[...identityKeys(fields), ...namesakeKeys(hire.connection.tenant, fields)]',
      replace: '[...identityKeys(fields), ...namesakeKeys(hire.connection.tenant, {})]',
    },
  ],
  caughtBy: tests(/a namesake who is hired at the same moment/, 'test/activities/hire/same-name.test.ts'),
};
