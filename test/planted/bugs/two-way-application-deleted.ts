import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'application deleted',
  patches: [
    {
      file: 'activities/exchange/read-sides.ts',
      find: 'const left = await fetchLeft(connection, deleted, defined);',
      replace: 'const left = new Map<string, FetchedRecord>();',
    },
  ],
  caughtBy: strange(/in silence/),
};
