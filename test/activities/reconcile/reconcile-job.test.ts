import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHire } from '../../../activities/hire/open-hire.ts';
import { createStageLookup } from '../../../activities/reconcile/hiring-stages.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { listAlarms } from '../../../src/store/alarms.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { closeHold, openHold } from '../../../src/store/holds.ts';
import { kinds } from '../../store/stores.ts';
import { fleetAtSandbox } from '../hire/fleet-at-sandbox.ts';
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

test.each(kinds)(
  'somebody away from the creating stage for one reading alone is told to their hire by the next reconcile, in %s',
  async (database) => {
    const policies = 'enrolAt: [SCREEN], createAt: [HIRED]';
    const { sandbox, deps, signalled, apply, reconcile, hire, open } = await fleetAtSandbox({
      database,
      skip: true,
      policies,
    });
    await apply('acme', 'writeBack: { customField: "1" }\n');
    await reconcile('acme');
    const jobCandidateId = await hire();
    await reconcile('acme');
    await open('acme', jobCandidateId);
    await sandbox.control.act('move', { jobCandidateIds: [Number(jobCandidateId)], stageType: 'SCREEN' });
    expect(await employ(deps, { tenantId: 'acme', jobCandidateId, period: 1 })).toEqual({ verdict: 'not-yet' });
    await hire(Number(jobCandidateId));
    signalled.length = 0;
    await reconcile('acme');
    expect(signalled).toMatchObject([{ jobCandidateId }]);
    await reconcile('acme');
    expect(signalled).toHaveLength(1);
  },
);

test.each(kinds)(
  'somebody back in the stage whose hire asks how it ends is told to that hire, without a webhook, in %s',
  async (database) => {
    const { store, reconcile, started, hireOneMore } = await openTenant(0, { database });
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
  },
);

test.each(kinds)(
  'an open hire without a workflow is started by the next reconcile, and said so, in %s',
  async (database) => {
    const { store, reconcile, started, followed } = await openTenant(0, { database });
    await reconcile();
    const ids = ['7001', '7002', '7003'];
    await insertHires(
      store,
      ids.map((jobCandidateId) => ({ tenantId: 'acme', jobCandidateId, period: 1, state: 'open' as const })),
    );
    followed.push('7002');
    await reconcile();
    expect(started, 'a workflow may be listed late').toEqual([]);
    const quiet = store.kysely.updateTable('hires').set((eb) => ({ updated_at: eb('updated_at', '-', 61_000) }));
    await quiet.where('job_candidate_id', '!=', '7003').execute();
    await reconcile();
    expect(started).toEqual(['7001']);
    expect(await listAlarms(store)).toMatchObject([
      { kind: 'hires-unfollowed', reason: 'WORKFLOW_LOST', message: expect.not.stringContaining('7001') },
    ]);
    followed.push('7001');
    await reconcile();
    expect(started).toEqual(['7001']);
    expect(await listAlarms(store)).toEqual([]);
  },
);

test('an event of a move into either hiring stage starts a hire', async () => {
  const { deps, sandbox } = await openTenant(0, { enrolAt: ['SHORTLISTED'] });
  const { items } = await sandbox.partner.readAll(contract.pipelines.list);
  const stages = items.flatMap((pipeline) => pipeline.stages ?? []);
  const isHiringStage = createStageLookup(deps.connections);
  const types = stages.map(async ({ id, type }) => ((await isHiringStage('acme', String(id))) ? [type] : []));
  expect(new Set((await Promise.all(types)).flat())).toEqual(new Set(['SHORTLISTED', 'HIRED']));
});
