import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a hire that is over because a later one is known still has its person, so that the later one waits for ever',
  patches: [
    {
      file: 'src/store/hire-states.ts',
      find: '    if (row.employee_id === null) await releasePeople',
      replace: '    if (row.employee_id === "") await releasePeople',
    },
  ],
  caughtBy: tests(/FAIL .*goes on where the backup knows the first one as open/, 'test/activities/hire/rehire.test.ts'),
};
