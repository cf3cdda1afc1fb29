import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'first day told by the day of UTC',
  patches: [
    {
      file: 'activities/hire/departure.ts',
      find: 'dayOf(await readClock(store), timezoneOf(connection.tenant))',
      replace: 'dayOf(await readClock(store))',
    },
  ],
  caughtBy: tests(/is told by the tenant’s day/, 'test/activities/hire/departure.test.ts'),
};
