import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'claim missing',
  patches: [
    {
      file: 'activities/hire/ask-person.ts',
      find: '  let told = await tell(store, whose, event);\n',
      replace:
        "  if (hire.ref.period > 0) return { verdict: 'claimed', before: undefined };\n  let told = await tell(store, whose, event);\n",
    },
  ],
  caughtBy: simulation(/I2 /),
};
