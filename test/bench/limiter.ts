import { measureCost } from '../limiter/cost.ts';
import { type Bench, openLedger } from './measured.ts';

/** What deciding about a call costs; how well it decides is `npm run test:limiter`. */
export const limiter: Bench = {
  name: 'limiter',
  leavesOut: 'the lease in the store, which is at most two statements a second, process and tenant.',
  async measure({ rounds }) {
    const ledger = openLedger('limiter');
    for (let round = 0; round < rounds; round += 1)
      for (const { what, us, most } of measureCost())
        ledger.add(what, 'us', us, most === undefined ? {} : { goal: { most } });
    return { measured: ledger.measured() };
  },
};
