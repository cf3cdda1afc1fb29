import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'baseline missing',
  patches: [
    {
      file: 'activities/reconcile/baseline.ts',
      find: 'insertBaseline(store, tenantId, before)',
      replace: 'insertBaseline(store, tenantId, before.slice(0, 0))',
    },
  ],
  caughtBy: simulation(/hired before go-live and was enrolled/),
};
