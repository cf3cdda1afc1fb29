import { expect, test } from 'vitest';
import { cancelHire, lookForReturn } from '../../../activities/hire/cancel-hire.ts';
import { allowCancellation } from '../../../activities/hire/departure.ts';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHire } from '../../../activities/hire/open-hire.ts';
import { createStageLookup } from '../../../activities/reconcile/hiring-stages.ts';
import { reconcile } from '../../../activities/reconcile/reconcile.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { holdOf } from '../../../src/hire/holds.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { listAlarms } from '../../../src/store/alarms.ts';
import { addHints } from '../../../src/store/hints.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { closeHold, openHold } from '../../../src/store/holds.ts';
import { listApplicants } from '../../harness/world-people.ts';
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

test('who was seen while Temporal was away, and then moved between the hiring stages, is found', async () => {
  const { deps, reconcile: again, started, hireOneMore, sandbox } = await openTenant(0, { enrolAt: ['SCREEN'] });
  await again();
  const id = await hireOneMore('HIRED');
  const move = (stageType: 'SCREEN' | 'HIRED') =>
    sandbox.control.act('move', { jobCandidateIds: [Number(id)], stageType });
  const signalHire = () => Promise.reject(new ConnectorError({ code: 'AWAY', action: 'retry', message: 'Away.' }));
  await expect(reconcile({ ...deps, signalHire }, { tenantId: 'acme' })).rejects.toMatchObject({ code: 'AWAY' });
  await move('SCREEN');
  await again();
  await move('HIRED');
  await again();
  expect(started).toEqual([id]);
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
  'a hire that waits for its person to reach the creating stage costs no further listing of the job, in %s',
  async (database) => {
    const policies = 'enrolAt: [SCREEN], createAt: [HIRED]';
    const { sandbox, deps, signalled, apply, reconcile, hire, open } = await fleetAtSandbox({
      database,
      skip: true,
      policies,
    });
    const listings = async (): Promise<number> => {
      const afterSeq = (await sandbox.control.ledger({ last: 1 }))[0]?.seq ?? 0;
      await reconcile('acme');
      return (await sandbox.control.ledger({ kind: 'request', name: 'jobCandidates.listByStageType', afterSeq }))
        .length;
    };
    await apply('acme', 'writeBack: { customField: "1" }\n');
    await reconcile('acme');
    const jobCandidateId = await hire();
    await sandbox.control.act('move', { jobCandidateIds: [Number(jobCandidateId)], stageType: 'SCREEN' });
    expect(await listings()).toBe(2);
    await open('acme', jobCandidateId);
    for (const _ of [1, 2]) {
      expect(await employ(deps, { tenantId: 'acme', jobCandidateId, period: 1 })).toEqual({ verdict: 'not-yet' });
      expect(await listings()).toBe(0);
    }
    await hire(Number(jobCandidateId));
    signalled.length = 0;
    expect(await listings()).toBe(2);
    expect(signalled).toMatchObject([{ jobCandidateId }]);
  },
);

test.each(kinds)(
  'whose hire was held because they left and who is back before the next reconcile is told to it by that, in %s',
  async (database) => {
    const policies = 'changeLimits: { cancellationsPerHour: 0 }';
    const fleet = await fleetAtSandbox({ database, skip: true, policies });
    const { deps, signalled, reconcile, apply } = fleet;
    await apply('acme', 'writeBack: { customField: "1" }\n');
    const { ref, move } = await hiredAndListed(fleet);
    await move('SCREEN');
    const asked = await allowCancellation(deps, ref);
    expect(asked).toMatchObject({ hold: { code: 'TOO_MANY_CANCELLATIONS' } });
    if (asked.verdict === 'hold') await openHold(deps.store, { ...ref, ...asked.hold });
    await move('HIRED');
    await reconcile('acme');
    expect(signalled).toMatchObject([{ jobCandidateId: ref.jobCandidateId }]);
    expect(await allowCancellation(deps, ref)).toMatchObject({ verdict: 'hold' });
    await reconcile('acme');
    expect(signalled, 'a question that stands costs no listing').toHaveLength(1);
  },
);

test.each(kinds)(
  'the same where the partner refused to end the enrolment; who goes on is told nothing more, in %s',
  async (database) => {
    const fleet = await fleetAtSandbox({ database });
    const { deps, signalled, reconcile, apply } = fleet;
    await apply('acme');
    const { ref, move } = await hiredAndListed(fleet);
    await move('SCREEN');
    expect(await allowCancellation(deps, ref)).toEqual({ verdict: 'allowed' });
    const refused = await cancelHire(refusingToEnd(deps), ref);
    expect(refused).toMatchObject({ hold: { code: 'TERMINATE_REFUSED' } });
    if (refused.verdict === 'hold') await openHold(deps.store, { ...ref, ...refused.hold });
    await move('HIRED');
    await reconcile('acme');
    expect(signalled).toMatchObject([{ jobCandidateId: ref.jobCandidateId }]);
    expect(await lookForReturn(deps, ref)).toEqual({ verdict: 'back' });
    await addHints(deps.store, 'acme', 'people', ['50001']);
    await reconcile('acme');
    expect(signalled).toHaveLength(1);
  },
);

test.each(kinds)(
  'who left is looked after, although their hire ends between the look of the reconcile and its hint, in %s',
  async (database) => {
    const fleet = await fleetAtSandbox({ database, skip: true });
    await fleet.apply('acme', 'writeBack: { customField: "1" }\n');
    const { ref, move } = await hiredAndListed(fleet);
    await move('SCREEN');
    const begun: Awaited<ReturnType<typeof openHire>>[] = [];
    const signalHire: Fleet['deps']['signalHire'] = async (hire, _about, { adopt = false, watch = false }) => {
      await endHire(fleet.store, ref, 'done');
      return begun.push(await openHire(fleet.deps, { ...hire, adopt, watch })) > 0;
    };
    await reconcile({ ...fleet.deps, signalHire }, { tenantId: 'acme' });
    expect(begun).toMatchObject([{ verdict: 'open', step: 'watch-done' }]);
  },
);

test.each(kinds)(
  'who was taken off a job that the list leaves out by now is looked after, and nobody else of it, in %s',
  async (database) => {
    const fleet = await fleetAtSandbox({ database, skip: true, jobs: 2, candidates: 8 });
    const { sandbox, store, signalled } = fleet;
    await fleet.apply('acme', 'writeBack: { customField: "1" }\n');
    await fleet.reconcile('acme');
    const people = await listApplicants(sandbox.partner);
    const jobId = people[0]?.jobId ?? 0;
    const own = people.filter((one) => one.jobId === jobId).map(({ jobCandidateId }) => jobCandidateId);
    const [removed = 0, rejected = 0, stays = 0] = own;
    for (const id of [removed, rejected, stays]) {
      await fleet.hire(id);
      await fleet.open('acme', String(id));
      await endHire(store, { tenantId: 'acme', jobCandidateId: String(id), period: 1 }, 'done');
    }
    await fleet.reconcile('acme');
    await sandbox.control.act('setJobStatus', { jobId, status: 'DELETED' });
    await sandbox.control.act('deleteJobCandidate', { jobCandidateIds: [removed] });
    await sandbox.control.act('reject', { jobCandidateIds: [rejected] });
    // As the relay does for events about hires without a workflow.
    await addHints(store, 'acme', 'people', [String(jobId)]);
    signalled.length = 0;
    await fleet.reconcile('acme');
    expect(signalled.map(({ jobCandidateId }) => Number(jobCandidateId)).toSorted()).toEqual([removed, rejected]);
    await fleet.reconcile('acme');
    expect(signalled, 'the hint counts once').toHaveLength(2);
    signalled.length = 0;
    await store.kysely.updateTable('tenants').set({ fully_reconciled_at: 0 }).execute();
    await fleet.reconcile('acme');
    const lost = signalled.map(({ jobCandidateId }) => Number(jobCandidateId)).toSorted();
    expect(lost, 'once a day, without an event').toEqual([removed, rejected]);
  },
);

type Fleet = Awaited<ReturnType<typeof fleetAtSandbox>>;

/** Somebody whom the last reconcile saw in the stage, with a hire. */
async function hiredAndListed({ sandbox, signalled, reconcile, hire, open }: Fleet) {
  await reconcile('acme');
  const jobCandidateId = await hire();
  await reconcile('acme');
  await open('acme', jobCandidateId);
  signalled.length = 0;
  return {
    ref: { tenantId: 'acme', jobCandidateId, period: 1 },
    move: (stageType: 'SCREEN' | 'HIRED') =>
      sandbox.control.act('move', { jobCandidateIds: [Number(jobCandidateId)], stageType }),
  };
}

function refusingToEnd(deps: Fleet['deps']): Fleet['deps'] {
  const of: Fleet['deps']['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    const { partner } = connection;
    const terminate: typeof partner.onboarding.terminate = async () => {
      throw new ConnectorError({ code: 'FLOW_LOCKED', action: 'reject', message: 'the flow is locked' });
    };
    return { ...connection, partner: { ...partner, onboarding: { ...partner.onboarding, terminate } } };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

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

test('somebody rejected by mistake and taken back where they stand is started by the next reconcile', async () => {
  const { sandbox, reconcile, started, hireOneMore } = await openTenant(0);
  await reconcile();
  const jobCandidateId = await hireOneMore('HIRED');
  await sandbox.control.act('reject', { jobCandidateIds: [Number(jobCandidateId)] });
  await reconcile();
  expect(started).toEqual([]);
  const params = { jobCandidateId: Number(jobCandidateId) };
  await sandbox.partner.jobCandidates.update({ params, body: { evaluationStatus: 'APPROVED' } });
  await reconcile();
  expect(started).toEqual([jobCandidateId]);
});

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
