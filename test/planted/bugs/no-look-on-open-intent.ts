import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'no look on an open intent',
  patches: [
    {
      file: 'activities/hire/write-once.ts',
      find: '  const seen = await options.look();\n',
      replace: "  const seen: Seen<T> = latest?.outcome === 'open' ? { kind: 'absent' } : await options.look();\n",
    },
  ],
  caughtBy: simulation(/I[23] /),
};
