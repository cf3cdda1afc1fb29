import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'period ignored',
  patches: [
    {
      file: 'activities/hire/with-hire.ts',
      find: '  const base = `${PREFIX}:${jobCandidateId}:${period}`;\n',
      replace: '  const base = `${PREFIX}:${jobCandidateId}:${period > 0 ? 1 : 0}`;\n',
    },
  ],
  caughtBy: simulation(/an enrolment that we ended ourselves/),
};
