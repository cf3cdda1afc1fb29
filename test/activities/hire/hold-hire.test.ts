import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { openHold } from '../../../activities/hire/hold-hire.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { createLogger } from '../../../src/log.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { openStore } from '../../../src/store/open-store.ts';

const REF = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };

test('a worker that stood still opens no hold of a hire that is over: nobody would take the answer', async () => {
  const store = await openStore('sqlite::memory:');
  onTestFinished(() => store.close());
  const deps = { store, log: createLogger('test') } as ActivityDeps;
  const hold = holdOf('ONBOARDING_TERMINATED', { jobCandidateId: '5012', status: 'terminated' });
  await insertHires(store, [{ ...REF, state: 'open' }]);
  const { holdId } = await openHold(deps, { ...REF, hold });
  expect(await listHolds(store, {})).toMatchObject([{ hold_id: holdId }]);
  await store.kysely.deleteFrom('holds').execute();
  await endHire(store, REF, 'left');
  await openHold(deps, { ...REF, hold });
  expect(await listHolds(store, {})).toEqual([]);
});
