import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'stalled worker replaces the employee',
  patches: [
    {
      file: 'src/person/person.ts',
      find: '  if (own === undefined) return isOpen;\n',
      replace: '  if (own === undefined || isOpen) return isOpen;\n',
    },
  ],
  caughtBy: tests(/a hire that has another one takes them over, or does not/, 'test/person/link-person.test.ts'),
};
