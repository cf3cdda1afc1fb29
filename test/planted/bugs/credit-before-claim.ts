import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'credit spent before anybody is asked about the person',
  patches: [
    {
      file: 'activities/hire/enrol.ts',
      find: "  const claimed = await claimPerson(hire, presence.candidateId);\n  if (claimed.verdict === 'hold') return claimed;\n",
      replace: '',
    },
  ],
  caughtBy: tests(/a second job is asked about before its credit/, 'test/activities/hire/known-person.test.ts'),
};
