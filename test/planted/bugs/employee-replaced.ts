import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'stalled worker replaces the employee',
  patches: [
    {
      file: 'src/store/hire-states.ts',
      find: "    .where((eb) => eb.or([eb('employee_id', 'is', null), eb('employee_id', '=', id)]))\n",
      replace: '',
    },
  ],
  caughtBy: tests(/a hire keeps its first employee/, 'test/store/hire-facts.test.ts'),
};
