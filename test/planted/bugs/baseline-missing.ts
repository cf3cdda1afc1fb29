import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'baseline missing',
  patches: [
    {
      file: 'activities/reconcile/baseline.ts',
      find: 'insertBaseline(store, tenantId, before, people)',
      replace: 'insertBaseline(store, tenantId, before.slice(0, 0), people)',
    },
  ],
  caughtBy: simulation(/hired before go-live and was enrolled/),
};
