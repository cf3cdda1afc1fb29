import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'status counts the whole inbox',
  patches: [
    {
      file: 'src/store/inbox.ts',
      find: '.where(open)',
      replace: '',
    },
  ],
  caughtBy: tests(/FAIL .*nothing that metrics and status ask reads what is over/, 'test/store/query-plans.test.ts'),
};
