import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'stalled worker replaces the employee',
  patches: [
    {
      file: 'src/person/change-person.ts',
      find: '  return (hire.isOpen && hire.employee === undefined) || ((hire.isOpen || hire.isDone) && has);',
      replace: '  return hire.isOpen || (hire.isDone && has);',
    },
  ],
  caughtBy: tests(/a hire that has another one takes them over, or does not/, 'test/person/link-person.test.ts'),
};
