import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'edited during a slow call',
  patches: [
    {
      file: 'activities/exchange/write-pairs.ts',
      find: 'if (record.amend !== undefined) return record.amend({ fields, over, from }, write);',
      replace: 'if (record.amend !== undefined) return record.update(fields, write);',
    },
  ],
  caughtBy: strange(/overwritten/),
};
