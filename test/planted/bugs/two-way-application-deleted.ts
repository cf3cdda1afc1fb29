import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'application deleted',
  patches: [
    {
      file: 'activities/exchange/read-sides.ts',
      find: 'deletedIds.length === 0 ? new Map<string, FetchedRecord>()',
      replace: 'deletedIds.length >= 0 ? new Map<string, FetchedRecord>()',
    },
  ],
  caughtBy: strange(/in silence/),
};
