import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'assigned to a flow again without a look at its list',
  patches: [
    {
      file: 'activities/invitations/ask-partner.ts',
      find: 'applications.has(id) ||',
      replace: "applications.has('') ||",
    },
  ],
  caughtBy: tests(
    /a request without an answer is found in the list of the flow, and not sent again/,
    'test/activities/invitations/flows.test.ts',
  ),
};
