import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a transfer writes nothing where another hire took over the hire’s own employee',
  patches: [
    {
      file: 'src/plan/plan-employee.ts',
      find: '  if (own !== undefined && own.id !== before?.id)',
      replace: '  if (own)',
    },
  ],
  caughtBy: tests(
    /transfer brings back its own employee whom another hire took over/,
    'test/plan/plan-employee.test.ts',
  ),
};
