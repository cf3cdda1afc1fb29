import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'person changed as they were seen long before',
  patches: [
    {
      file: 'src/store/persons.ts',
      find: '{ person_id: person.id, version: person.version }',
      replace: '{ person_id: person.id }',
    },
  ],
  caughtBy: tests(/is not written by who read them before another change/, 'test/store/persons.test.ts'),
};
