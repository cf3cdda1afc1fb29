import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'without credits everybody is asked for again',
  patches: [
    {
      file: 'activities/invitations/push-invitations.ts',
      find: "if (!credits.mayTry) return tellAll(run, [...planned.values()].flat(), 'held', WITHOUT_CREDITS);",
      replace: '',
    },
  ],
  caughtBy: tests(/without credits nobody else is asked for/, 'test/activities/invitations/push-invitations.test.ts'),
};
