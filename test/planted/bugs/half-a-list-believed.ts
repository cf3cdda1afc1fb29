import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'who is not on the readable pages of a list counts as gone',
  patches: [
    {
      file: 'activities/presence/read-presence.ts',
      find: '    if (isConnectorError(listed)) return { inside: false, failed: listed };\n',
      replace: '    if (isConnectorError(listed)) return { inside: false };\n',
    },
  ],
  caughtBy: tests(
    /a page of the list that fails keeps only those waiting whom nothing else shows/,
    'test/activities/presence/read-presence.test.ts',
  ),
};
