import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'many invited without a question',
  patches: [
    {
      file: 'activities/invitations/push-invitations.ts',
      find: 'if (fresh <= settings.atOnce) return;',
      replace: 'if (fresh <= settings.atOnce * 1_000) return;',
    },
  ],
  caughtBy: tests(/a rule that would invite many asks first/, 'test/activities/invitations/push-invitations.test.ts'),
};
