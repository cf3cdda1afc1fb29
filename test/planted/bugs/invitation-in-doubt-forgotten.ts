import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: "a duplicate of ours taken for a recruiter's",
  patches: [
    {
      file: 'src/store/invitations.ts',
      find: "before.state === 'sent' ? 1 : before.in_doubt",
      replace: 'before.in_doubt',
    },
  ],
  caughtBy: tests(
    /each person once, although the request meets answer-lost/,
    'test/activities/invitations/push-invitations.test.ts',
  ),
};
