import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'claim missing',
  patches: [
    {
      file: 'activities/hire/ask-person.ts',
      find: '  const first = await changePerson(store, whose, event);\n',
      replace:
        "  if (hire.ref.period > 0) return { verdict: 'claimed', before: undefined };\n  const first = await changePerson(store, whose, event);\n",
    },
  ],
  caughtBy: simulation(/I2 /),
};
