import { type PlantedBug, strange } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'arrival assumed',
  caughtBy: strange(/emptied, and nobody|overwritten|nobody edited/),
  patches: [
    {
      file: 'activities/exchange/write-pairs.ts',
      find: 'const settlesInMs = Math.max(readLagMs, deps.limits.partnerLagMs);',
      replace: 'const settlesInMs = Math.min(readLagMs, deps.limits.partnerLagMs);',
    },
    {
      file: 'src/exchange/plan-pair.ts',
      find: 'if (shown === form && !over.includes(form)) return [];',
      replace: 'if (shown === form || over.length > 0) return [];',
    },
  ],
};
