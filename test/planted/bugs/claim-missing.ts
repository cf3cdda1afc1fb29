import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'claim missing',
  patches: [
    {
      file: 'activities/hire/claim-person.ts',
      find: '  const taken = await takeClaim(store, person, ref);\n',
      replace:
        "  if (ref.period > 0) return { verdict: 'claimed', before: undefined };\n  const taken = await takeClaim(store, person, ref);\n",
    },
  ],
  caughtBy: simulation(/I2 /),
};
