import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'an answer about a person counts for ever',
  patches: [
    {
      file: 'src/person/person.ts',
      find: 'before.since > personAt;',
      replace: 'before.since > personAt && before.since < 0;',
    },
  ],
  caughtBy: tests(/asks anew once a third job has taken over/, 'test/activities/hire/taken-over.test.ts'),
};
