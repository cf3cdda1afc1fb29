import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'relay leases rows of a tenant that was told to wait',
  patches: [
    {
      file: 'src/store/inbox.ts',
      find: 'case when due_at > paused_until then due_at else paused_until end - now as in_ms',
      replace: 'due_at - now as in_ms',
    },
  ],
  caughtBy: tests(/FAIL .*a tenant is due with a baseline, active, and not told to wait/, 'test/store/inbox.test.ts'),
};
