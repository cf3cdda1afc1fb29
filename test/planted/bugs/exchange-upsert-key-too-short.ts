import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'upsert key too short',
  patches: [
    {
      file: 'activities/exchange/send-values.ts',
      find: 'const entries = all.flatMap((one) => entriesOf(context, one));',
      replace:
        'const each = all.flatMap((one) => entriesOf(context, one));\n' +
        '  const entries = [...new Map(each.map((one) => [one.value.customFieldId, one])).values()];',
    },
  ],
  caughtBy: convergence(/no last edit|differ/),
};
