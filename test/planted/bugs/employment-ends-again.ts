import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'who goes on with an erasure ends the employment once more',
  patches: [
    {
      file: 'activities/erase/carry-out.ts',
      find: '      return (await readEmployee(hris, employee))?.former === true\n',
      replace: '      return (await readEmployee(hris, employee)) === undefined\n',
    },
  ],
  caughtBy: tests(/ended: \d+ \d+/, 'test/person/erase-killed.test.ts'),
};
