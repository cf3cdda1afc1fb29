import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'odd cell is a refusal',
  patches: [
    {
      file: 'src/exchange/plan-pair.ts',
      find: 'hris: formIn(hris.seen) ?? UNREADABLE_FORM',
      replace: 'hris: formIn(hris.seen)',
    },
  ],
  caughtBy: strange(/is not true/),
};
