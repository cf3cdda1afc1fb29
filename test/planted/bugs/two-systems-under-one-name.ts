import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'two HR systems are taken for one by their name',
  patches: [
    {
      file: 'src/tenants/clashes.ts',
      find: '    const parts = differencesOf(...both);',
      replace: '    const parts = differencesOf(both[0], both[0]);',
    },
  ],
  caughtBy: tests(/FAIL .*when its connection name means another HRIS/, 'test/tenants/refused-tenants.test.ts'),
};
