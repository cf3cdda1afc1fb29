import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'invited again without a search',
  patches: [
    {
      file: 'activities/invitations/push-invitations.ts',
      find: 'const found = rows.filter((row) => shown.has(referenceOf(row)));',
      replace: 'const found = rows.filter((row) => shown.has(`${referenceOf(row)}?`));',
    },
  ],
  caughtBy: tests(
    /somebody without an answer who has taken the interview is known by our reference/,
    'test/activities/invitations/push-invitations.test.ts',
  ),
};
