import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'hire not woken when credits come back',
  patches: [
    {
      file: 'activities/hire/enrol.ts',
      find: "  return { verdict: 'no-credits', waitMs: (await isCreditGateOpen(store, ref.tenantId)) ? AT_ONCE_MS : waitMs };",
      replace:
        "  return { verdict: 'no-credits', waitMs: (await isCreditGateOpen(store, ref.tenantId)) ? waitMs : waitMs + AT_ONCE_MS };",
    },
  ],
  caughtBy: tests(/do not leave it waiting/, 'test/activities/hire/refused-enrolment.test.ts'),
};
