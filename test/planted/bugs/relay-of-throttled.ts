import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'relay leases rows of a tenant that was told to wait',
  patches: [
    {
      file: 'src/store/inbox.ts',
      find: "            .where('rate_limits.paused_until', '>', store.now),",
      replace: "            .where('rate_limits.paused_until', '<', 0),",
    },
  ],
  caughtBy: tests(/FAIL .*a tenant is due with a baseline, active, and not told to wait/, 'test/store/inbox.test.ts'),
};
