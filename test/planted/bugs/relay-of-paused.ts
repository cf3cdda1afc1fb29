import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'relay leases rows of a paused tenant',
  patches: [{ file: 'src/store/inbox.ts', find: "state = 'active' and ", replace: '' }],
  caughtBy: tests(/FAIL .*a tenant is due with a baseline, active, and not told to wait/, 'test/store/inbox.test.ts'),
};
