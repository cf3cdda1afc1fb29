import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'employee of the same name taken from another hire',
  patches: [
    {
      file: 'activities/hire/pending-create.ts',
      find: 'return hasOtherName({ ...hire, decisions: undecided }, record, candidate.candidateId);',
      replace: 'return true;',
    },
  ],
  caughtBy: tests(/with our reference and the name of who had them/, 'test/activities/hire/employee-gone.test.ts'),
};
