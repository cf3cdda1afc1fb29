import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { enrol } from '../../../activities/hire/enrol.ts';
import { isCreditGateOpen, releaseCanary } from '../../../src/store/enrolments.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { serve } from '../../http/servers.ts';
import { kinds } from '../../store/stores.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

type Kind = (typeof kinds)[number];

/** Stands between the product and the sandbox: `holdNext` keeps back the answer to the next enrolment. */
function answersHeld() {
  let held: { arrived: PromiseWithResolvers<void>; release: PromiseWithResolvers<void> } | undefined;
  const between = async (sandboxUrl: string): Promise<string> => {
    const origin = await serve(async (request, response) => {
      const { method = 'GET', url = '' } = request;
      const { authorization = '' } = request.headers;
      const body = new Uint8Array(await buffer(request));
      const answer = await fetch(new URL(url, sandboxUrl), {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(body.length === 0 ? {} : { body }),
      });
      const text = await answer.text();
      if (held !== undefined && method === 'POST' && /\/onboarding\/flows\/[^/]+\/candidates$/.test(url)) {
        const { arrived, release } = held;
        held = undefined;
        arrived.resolve();
        await release.promise;
      }
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(text);
    });
    return `${origin}${new URL(sandboxUrl).pathname}`;
  };
  const holdNext = () => {
    const own = { arrived: Promise.withResolvers<void>(), release: Promise.withResolvers<void>() };
    held = own;
    return { arrived: own.arrived.promise, release: () => own.release.resolve() };
  };
  return { between, holdNext };
}

/** A tenant whose hires are enrolled, at a partner whose credits the test sets. */
async function tenantWithCredits(database: Kind = 'sqlite') {
  const { between, holdNext } = answersHeld();
  const fleet = await fleetAtSandbox({ database, between, policies: 'credits: { canaryEvery: 1h }' });
  const { store, deps, sandbox } = fleet;
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const refOf = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1 });
  return {
    fleet,
    holdNext,
    setCredits: (onboardingCredits: number) => sandbox.control.act('setCredits', { onboardingCredits }),
    /** Opens the hire, which enrols the person. */
    async open(id: string) {
      const opened = await fleet.open('acme', id);
      return opened.verdict === 'closed' ? opened : opened.enrolled;
    },
    enrol: (id: string) => enrol(deps, refOf(id)),
    /** As the answer `retry` does. */
    release: () => releaseCanary(store, 'acme'),
    isOpen: () => isCreditGateOpen(store, 'acme'),
    holds: async () => (await listHolds(store, { tenantId: 'acme', all: true })).map(({ code }) => code),
    openHolds: async () => (await listHolds(store, { tenantId: 'acme' })).map(({ code }) => code),
    told: () => fleet.signalled.map(({ jobCandidateId }) => jobCandidateId),
  };
}

test.each(kinds)(
  'an enrolment that left before the first refusal proves nothing about credits, however late its answer is, in %s',
  async (database) => {
    const { fleet, holdNext, setCredits, open, enrol: again, isOpen, ...world } = await tenantWithCredits(database);
    const [early, late] = [await fleet.hire(), await fleet.hire()];
    await setCredits(1);
    const answer = holdNext();
    const enrolled = open(early);
    await answer.arrived;
    expect(await open(late)).toMatchObject({ verdict: 'no-credits' });
    answer.release();
    expect(await enrolled).toMatchObject({ verdict: 'enrolled' });
    expect(await isOpen()).toBe(false);
    expect(world.told()).toEqual([]);

    await setCredits(10);
    await world.release();
    expect(await again(late)).toMatchObject({ verdict: 'enrolled' });
    expect(await isOpen()).toBe(true);
    expect(await world.openHolds()).toEqual([]);
    expect(await world.holds()).toEqual(['CREDITS_USED_UP']);
  },
);

test.each(kinds)(
  'a refusal of an enrolment that left before credits came back does not stop the others again, in %s',
  async (database) => {
    const { fleet, holdNext, setCredits, open, enrol: again, isOpen, ...world } = await tenantWithCredits(database);
    const [early, late] = [await fleet.hire(), await fleet.hire()];
    await setCredits(0);
    const answer = holdNext();
    const refused = open(early);
    await answer.arrived;
    expect(await open(late)).toMatchObject({ verdict: 'no-credits' });
    await setCredits(10);
    await world.release();
    expect(await again(late)).toMatchObject({ verdict: 'enrolled' });
    answer.release();
    expect(await refused).toEqual({ verdict: 'no-credits', waitMs: 1 });
    expect(await isOpen()).toBe(true);
    expect(await again(early)).toMatchObject({ verdict: 'enrolled' });
    expect(await world.openHolds()).toEqual([]);
    expect(await world.holds()).toEqual(['CREDITS_USED_UP']);
  },
);

test('credits that are used up again stop the others again', async () => {
  const { fleet, setCredits, open, enrol: again, isOpen, ...world } = await tenantWithCredits();
  const [first, second] = [await fleet.hire(), await fleet.hire()];
  await setCredits(0);
  expect(await open(first)).toMatchObject({ verdict: 'no-credits' });
  await setCredits(1);
  await world.release();
  expect(await again(first)).toMatchObject({ verdict: 'enrolled' });
  expect(await open(second)).toMatchObject({ verdict: 'no-credits' });
  expect(await isOpen()).toBe(false);
  expect(await world.openHolds()).toEqual(['CREDITS_USED_UP']);
});

test.each(kinds)('somebody who left before the credits were tried leaves the turn to the next, in %s', async (kind) => {
  const { fleet, setCredits, open, enrol: again, isOpen, ...world } = await tenantWithCredits(kind);
  const [gone, next] = [await fleet.hire(), await fleet.hire()];
  await setCredits(0);
  expect(await open(gone)).toMatchObject({ verdict: 'no-credits' });
  expect(await open(next)).toMatchObject({ verdict: 'no-credits' });
  await fleet.sandbox.control.act('move', { jobCandidateIds: [Number(gone)], stageType: 'SCREEN' });
  await setCredits(10);
  await world.release();
  expect(await again(gone)).toEqual({ verdict: 'left' });
  expect(world.told()).toEqual([next]);
  expect(await again(next)).toMatchObject({ verdict: 'enrolled' });
  expect(await isOpen()).toBe(true);
});

test('whoever tries the credits and is told to come back later keeps its turn', async () => {
  const { fleet, setCredits, open, enrol: again, isOpen, ...world } = await tenantWithCredits();
  const first = await fleet.hire();
  await setCredits(0);
  expect(await open(first)).toMatchObject({ verdict: 'no-credits' });
  await setCredits(10);
  await world.release();
  await fleet.sandbox.control.act('setFaults', { faults: [{ kind: 'throttle', on: 'onboarding.enrol', times: 1 }] });
  await expect(again(first)).rejects.toMatchObject({ action: 'throttle' });
  expect(world.told()).toEqual([]);
  expect(await again(first)).toMatchObject({ verdict: 'enrolled' });
  expect(await isOpen()).toBe(true);
});
