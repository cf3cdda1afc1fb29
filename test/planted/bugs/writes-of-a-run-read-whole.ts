import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'the writes of one run are found by reading all',
  patches: [
    {
      file: 'src/store/migrations/0072-purged-writes.ts',
      find: 'on foreign_writes (tenant_id, run_id, sent_at)',
      replace: 'on foreign_writes (sent_at, run_id, tenant_id)',
    },
  ],
  caughtBy: tests(/FAIL .*the writes of one run are found without reading/, 'test/store/size.test.ts'),
};
