import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'claim missing',
  patches: [
    {
      file: 'activities/hire/claim-person.ts',
      find: '  const person = personOf(tenant, candidateId);\n',
      replace:
        "  if (ref.period > 0) return { verdict: 'claimed', before: undefined };\n  const person = personOf(tenant, candidateId);\n",
    },
  ],
  caughtBy: simulation(/I2 /),
};
