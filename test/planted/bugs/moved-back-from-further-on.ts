import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'somebody who was moved on meanwhile is moved back',
  patches: [
    {
      file: 'activities/invitations/ask-partner.ts',
      find: "if (presence.verdict !== 'in') return;",
      replace: "if (presence.verdict === 'missing') return;",
    },
  ],
  caughtBy: tests(/is not moved back/, 'test/activities/invitations/move-on.test.ts'),
};
