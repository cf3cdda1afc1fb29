import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'adopt by e-mail, in the HRIS',
  patches: [
    {
      file: 'src/plan/identity-ladder.ts',
      find: "  if (rungs.has('number')) return rungs.has('email') || rungs.has('person');\n",
      replace: "  if (rungs.has('email')) return true;\n",
    },
  ],
  caughtBy: simulation(/shows the Employee ID of|is hired and no employee/),
};
