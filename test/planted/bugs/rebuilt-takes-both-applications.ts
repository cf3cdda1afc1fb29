import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a rebuilt store takes every application of a person for the one that was enrolled',
  patches: [{ file: 'activities/reconcile/baseline.ts', find: '(!enrolled.has(candidateId) && ', replace: '(' }],
  caughtBy: tests(
    /takes up the application that was enrolled and is hired, not another one of its person/,
    'test/activities/reconcile/restored.test.ts',
  ),
};
