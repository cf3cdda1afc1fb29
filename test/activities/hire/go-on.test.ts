import { expect, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { employAndGoOn, onboardAndGoOn } from '../../../activities/hire/go-on.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { latestHire, updateHire } from '../../../src/store/hires.ts';
import { finishOnboardings } from '../../harness/world-people.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const DONE = { verdict: 'ready', present: true, done: true };

test('an onboarding that is ready goes on to the hire’s end, and once more changes nothing', async () => {
  const { deps, asked, onboard, row, effects } = await enrolOne();
  expect(await onboardAndGoOn(deps, asked)).toEqual({ verdict: 'waiting' });
  await onboard();
  expect(await onboardAndGoOn(deps, asked)).toEqual(DONE);
  expect(await row()).toMatchObject({ state: 'done', employee_id: expect.any(String) });
  // An attempt whose end Temporal did not hear of; nobody is read for it.
  expect(await onboardAndGoOn(deps, asked)).toEqual({ ...DONE, present: false });
  expect(await employAndGoOn(deps, asked)).toEqual({ verdict: 'employee', done: true });
  expect(await effects()).toBe(1);
});

test('a workflow that does not ask for it gets each step alone', async () => {
  const { deps, asked, onboard, row } = await enrolOne();
  await onboard();
  const { goOn: _left, ...ref } = asked;
  expect(await onboardAndGoOn(deps, ref)).toEqual({ verdict: 'ready' });
  expect(await row()).toMatchObject({ state: 'open', employee_id: null });
  expect(await employAndGoOn(deps, ref)).toEqual({ verdict: 'employee', present: true });
  expect(await row()).toMatchObject({ state: 'open', employee_id: expect.any(String) });
});

test('a step that fails is left to an activity of its own', async () => {
  const { deps, asked, onboard, row } = await enrolOne();
  await onboard();
  expect(await onboardAndGoOn(withoutHris(deps), asked)).toEqual({ verdict: 'ready' });
  await expect(employAndGoOn(withoutHris(deps), asked)).rejects.toMatchObject({ code: 'HRIS_UNAVAILABLE' });
  expect(await row()).toMatchObject({ state: 'open', employee_id: null });
  expect(await employAndGoOn(deps, asked)).toMatchObject({ verdict: 'employee', done: true });
});

test('nothing is gone on to with half of the deadline over', async () => {
  const { deps, asked, onboard } = await enrolOne();
  await onboard();
  const late = { ...deps, limits: { ...deps.limits, giveUpMs: -1 } };
  expect(await onboardAndGoOn(late, asked)).toEqual({ verdict: 'ready' });
});

test('a write-back refused for good is held, for a workflow that knows of it, and not sent again', async () => {
  const { deps, asked, onboard } = await enrolOne();
  await onboard();
  const { refusing, sent } = refusingWriteBack(deps);
  const held = { verdict: 'ready', present: true, held: { code: 'WRITE_BACK_REFUSED' } };
  expect(await onboardAndGoOn(refusing, { ...asked, orHold: true })).toMatchObject(held);
  expect(sent).toEqual({ times: 1 });
  expect(await onboardAndGoOn(refusing, asked)).toEqual({ verdict: 'ready' });
});

test('an enrolment that the partner no longer shows is asked about, and its status is no longer known', async () => {
  const { deps, asked, row } = await enrolOne();
  await updateHire(deps.store, asked, { onboarding_candidate_id: 'cancelled', onboarding_reference: 'cancelled' });
  expect(await onboardAndGoOn(deps, asked)).toMatchObject({ verdict: 'hold', hold: { code: 'ENROLMENT_GONE' } });
  expect(await row()).toMatchObject({ state: 'open', onboarding_status: null });
});

/** One hire, enrolled. */
async function enrolOne() {
  const fleet = await fleetAtSandbox();
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const id = await fleet.hire();
  await fleet.open('acme', id);
  const { sandbox, store, deps } = fleet;
  return {
    deps,
    asked: { tenantId: 'acme', jobCandidateId: id, period: 1, goOn: true },
    onboard: () => finishOnboardings(sandbox.control, sandbox.partner),
    row: () => latestHire(store, 'acme', id),
    /** Intents to make an employee that left. */
    effects: async () => {
      const intents = await store.kysely.selectFrom('intents').selectAll().execute();
      return intents.filter(({ verb }) => verb === 'create-employee').length;
    },
  };
}

function withoutHris(deps: ActivityDeps): ActivityDeps {
  const of: ActivityDeps['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    const create = async () => {
      throw new ConnectorError({ code: 'HRIS_UNAVAILABLE', action: 'retry', message: 'The HR system is away.' });
    };
    return { ...connection, hris: { ...connection.hris, employees: { ...connection.hris.employees, create } } };
  };
  return { ...deps, connections: { ...deps.connections, of } };
}

function refusingWriteBack(deps: ActivityDeps): { refusing: ActivityDeps; sent: { times: number } } {
  const sent = { times: 0 };
  const of: ActivityDeps['connections']['of'] = async (tenantId) => {
    const connection = await deps.connections.of(tenantId);
    const setExternalStatus = async (): Promise<never> => {
      sent.times += 1;
      throw new ConnectorError({ code: 'NOT_FOUND', action: 'reject', message: 'There is no such enrolment.' });
    };
    const onboarding = { ...connection.partner.onboarding, setExternalStatus };
    return { ...connection, partner: { ...connection.partner, onboarding } };
  };
  return { refusing: { ...deps, connections: { ...deps.connections, of } }, sent };
}
