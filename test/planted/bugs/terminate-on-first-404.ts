import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'terminate on the first 404',
  patches: [
    {
      file: 'workflows/hire.ts',
      find: "  if (!(await isGoneAfterGrace(hire))) return 'enrol';\n",
      replace: '',
    },
  ],
  caughtBy: simulation(/terminated although hired within the grace/),
};
