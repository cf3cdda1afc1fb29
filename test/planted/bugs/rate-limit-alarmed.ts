import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'wait for the rate limit is trouble',
  patches: [
    {
      file: 'activities/create-activities.ts',
      find: "  if (isConnectorError(error) && error.action === 'throttle') {",
      replace: "  if (isConnectorError(error) && error.action === 'ignore') {",
    },
  ],
  caughtBy: tests(/waits for the rate limit are no trouble/, 'test/activities/watch-activity.test.ts'),
};
