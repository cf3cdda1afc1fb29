import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'a lead without consent becomes a candidate',
  patches: [
    {
      file: 'activities/sourcing/push-sourcing.ts',
      find: 'else if (lead.consentOn === undefined) tell',
      replace: "else if (lead.leadId === '') tell",
    },
  ],
  caughtBy: tests(/a lead becomes a candidate of the job/, 'test/activities/sourcing/push-sourcing.test.ts'),
};
