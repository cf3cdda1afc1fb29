import { type PlantedBug, tests } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'relay writes after its lease ran out',
  patches: [{ file: 'src/store/inbox.ts', find: ', due_at: leasedUntil }', replace: ' }' }],
  caughtBy: tests(/hears nothing from a relay whose lease another one has by now/, 'test/store/inbox.test.ts'),
};
