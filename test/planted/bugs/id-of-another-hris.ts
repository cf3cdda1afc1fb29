import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: "employee's id used in another HR system",
  patches: [
    {
      file: 'activities/hire/with-hire.ts',
      find: '  return row.connection === connection.tenant.hris.connection ? undefined : row.connection;',
      replace: '  return connection === undefined ? row.connection : undefined;',
    },
  ],
  caughtBy: tests(/no stranger there is read or written/, 'test/activities/hire/other-hris.test.ts'),
};
