import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'who goes on with an erasure ends the employment once more',
  patches: [
    {
      file: 'activities/erase/carry-out.ts',
      find: "      return shown?.former === true ? { kind: 'found', value: null } : { kind: 'absent' };\n",
      replace: "      return shown === undefined ? { kind: 'found', value: null } : { kind: 'absent' };\n",
    },
  ],
  caughtBy: tests(/ended: \d+ \d+/, 'test/person/erase-killed.test.ts'),
};
