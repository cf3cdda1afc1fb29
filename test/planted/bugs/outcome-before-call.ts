import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'outcome recorded before the call',
  patches: [
    {
      file: 'activities/hire/write-once.ts',
      find: '    value = await options.send(pinned, guardFor(verb, giveUpMs, clock, sinceRead));\n',
      replace:
        "    await decideIntent(store, intent, 'done', null);\n    value = await options.send(pinned, guardFor(verb, giveUpMs, clock, sinceRead));\n",
    },
  ],
  caughtBy: simulation(/I[18] /),
};
