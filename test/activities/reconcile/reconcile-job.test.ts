import { expect, test } from 'vitest';
import { openHire } from '../../../activities/hire/open-hire.ts';
import { createStageLookup } from '../../../activities/reconcile/hiring-stages.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { closeHold, openHold } from '../../../src/store/holds.ts';
import { openTenant } from './open-tenant.ts';

test('somebody moved straight to the stage that creates employees is found by the reconcile and opened', async () => {
  const { deps, reconcile, started, hireOneMore } = await openTenant(3, { enrolAt: ['OFFER'] });
  await reconcile();
  const jobCandidateId = await hireOneMore('HIRED');
  await reconcile();
  expect(started).toEqual([jobCandidateId]);
  const opened = await openHire(deps, { tenantId: 'acme', jobCandidateId, adopt: false, watch: false });
  expect(opened).toMatchObject({ verdict: 'open', step: 'enrol' });
});

test('somebody back in the stage whose hire asks how it ends is told to that hire, without a webhook', async () => {
  const { store, reconcile, started, hireOneMore } = await openTenant(0);
  await reconcile();
  const jobCandidateId = await hireOneMore('HIRED');
  const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
  await insertHires(store, [{ ...ref, state: 'open' }]);
  const { holdId } = await openHold(store, {
    ...ref,
    ...holdOf('TOO_MANY_CANCELLATIONS', { jobCandidateId, most: 3 }),
  });
  await reconcile();
  expect(started).toEqual([jobCandidateId]);
  await closeHold(store, holdId);
  await hireOneMore('HIRED');
  await reconcile();
  expect(started.filter((id) => id === jobCandidateId)).toHaveLength(1);
});

test('an event of a move into either hiring stage starts a hire', async () => {
  const { deps, sandbox } = await openTenant(0, { enrolAt: ['SHORTLISTED'] });
  const { items } = await sandbox.partner.readAll(contract.pipelines.list);
  const stages = items.flatMap((pipeline) => pipeline.stages ?? []);
  const isHiringStage = createStageLookup(deps.connections);
  const types = stages.map(async ({ id, type }) => ((await isHiringStage('acme', String(id))) ? [type] : []));
  expect(new Set((await Promise.all(types)).flat())).toEqual(new Set(['SHORTLISTED', 'HIRED']));
});
