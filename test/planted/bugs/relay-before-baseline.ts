import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'relay leases rows of a tenant without a baseline',
  patches: [{ file: 'src/store/inbox.ts', find: ' and baseline_done_at is not null', replace: '' }],
  caughtBy: tests(/FAIL .*a tenant is due with a baseline, active, and not told to wait/, 'test/store/inbox.test.ts'),
};
