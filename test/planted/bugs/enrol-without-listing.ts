import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'enrol without listing first',
  patches: [
    {
      file: 'activities/hire/enrol.ts',
      find: 'look: () => lookForEnrolment(connection, reference)',
      replace: "look: async () => ({ kind: 'absent' })",
    },
  ],
  caughtBy: simulation(/I3 /),
};
