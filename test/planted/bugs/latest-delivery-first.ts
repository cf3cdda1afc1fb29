import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'the relay takes the latest deliveries first',
  patches: [
    {
      file: 'src/store/inbox.ts',
      find: "    .orderBy('due_at')\n    .limit(limit);",
      replace: "    .orderBy('due_at', 'desc')\n    .limit(limit);",
    },
  ],
  caughtBy: tests(/FAIL .*who has waited longest is leased first/, 'test/store/inbox.test.ts'),
};
