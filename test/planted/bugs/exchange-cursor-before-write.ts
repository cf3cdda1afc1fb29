import { convergence, type PlantedBug } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'cursor before write',
  patches: [
    {
      file: 'activities/exchange/exchange-pairs.ts',
      find: '  const { counts, again } = await exchangePage(context, pairs);',
      replace: `  const cursor = pairs.at(-1)?.pairId ?? run.cursor;
  const none = { unchanged: 0, updated: 0, skipped: 0, quarantined: 0, held: 0 };
  await commitPairs(deps.store, key, runId, { cursor, counts: none, isOver: false });
  const { counts, again } = await exchangePage(context, pairs);`,
    },
  ],
  caughtBy: convergence(/was not covered by a run that is done/),
};
