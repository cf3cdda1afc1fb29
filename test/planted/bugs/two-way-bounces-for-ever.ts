import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'bounces for ever',
  patches: [
    {
      file: 'src/exchange/plan-pair.ts',
      find: 'const MOST_BOUNCES = 3;',
      replace: 'const MOST_BOUNCES = 1_000;',
    },
  ],
  caughtBy: strange(/nobody edited anything since/),
};
