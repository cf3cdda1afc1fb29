import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'many invited without a question',
  patches: [
    {
      file: 'activities/push/push-context.ts',
      find: 'if (fresh <= most) return;',
      replace: 'if (fresh <= most * 1_000) return;',
    },
  ],
  caughtBy: tests(/a rule that would invite many asks first/, 'test/activities/invitations/push-invitations.test.ts'),
};
