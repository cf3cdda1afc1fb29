import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'two tenants of a company hire one person into two HR systems',
  patches: [
    {
      file: 'src/person/person.ts',
      find: "isAsked && (owner === undefined || !isUnderWay) && typeof elsewhere === 'object'",
      replace: 'isAsked && elsewhere === null',
    },
  ],
  caughtBy: tests(/FAIL .*is asked about before a second HR system has them/, 'test/activities/hire/admit.test.ts'),
};
