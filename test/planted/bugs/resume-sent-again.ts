import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a resume without an answer is sent again by itself',
  patches: [
    {
      file: 'activities/resumes/push-resumes.ts',
      find: "const isUnanswered = before?.state === 'sent' && run.full &&",
      replace: "const isUnanswered = before?.state === 'sent' &&",
    },
  ],
  caughtBy: tests(/goes again only when a person asks/, 'test/activities/resumes/push-resumes.test.ts'),
};
