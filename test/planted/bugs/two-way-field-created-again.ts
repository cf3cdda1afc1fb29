import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'field created again',
  patches: [
    {
      file: 'activities/exchange/read-pairs.ts',
      find: "'customFields', definition?.id, definition?.type",
      replace: "'customFields', definition?.label, definition?.type",
    },
  ],
  caughtBy: strange(/emptied, and nobody|overwritten/),
};
