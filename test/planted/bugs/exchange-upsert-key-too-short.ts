import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'upsert key too short',
  patches: [
    {
      file: 'activities/exchange/send-to-partner.ts',
      find: 'const entries = all.flatMap(entriesOf);',
      replace:
        'const entries = [...new Map(all.flatMap(entriesOf).map((one) => [one.value.customFieldId, one])).values()];',
    },
  ],
  caughtBy: convergence(/is no last edit|differs/),
};
