import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'after a refusal for credits the others are asked for all the same',
  patches: [
    {
      file: 'activities/invitations/push-invitations.ts',
      find: "if (run.isOutOfCredits) tellAll(run, rest.splice(0), 'held', WITHOUT_CREDITS);",
      replace: '',
    },
  ],
  caughtBy: tests(/credits that go in the middle end the requests/, 'test/activities/invitations/flows.test.ts'),
};
