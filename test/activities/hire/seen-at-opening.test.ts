import { expect, onTestFinished, test, vi } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

/** A hire that was opened a moment ago, and which job candidates were read since. */
async function openOne(policies?: string) {
  const fleet = await fleetAtSandbox({ skip: true, ...(policies === undefined ? {} : { policies }) });
  await fleet.apply('acme', 'writeBack: { customField: "1" }\n');
  await fleet.reconcile('acme');
  const id = await fleet.hire();
  await fleet.open('acme', id);
  const { control } = fleet.sandbox;
  const [last] = await control.ledger({ last: 1 });
  return {
    ...fleet,
    asked: { tenantId: 'acme', jobCandidateId: id, period: 1, seenAtOpening: true },
    readings: async () =>
      (await control.ledger({ kind: 'request', name: 'jobCandidates.bulkFetch', afterSeq: last?.seq ?? 0 })).length,
    moveBack: () => control.act('move', { jobCandidateIds: [Number(id)], stageType: 'SCREEN' }),
  };
}

test('who was read as their hire was opened is made an employee by that reading', async () => {
  const { deps, asked, readings } = await openOne();
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
  expect(await readings()).toBe(0);
});

test('that reading serves one attempt', async () => {
  const { deps, asked, readings, moveBack } = await openOne();
  await employ(deps, asked);
  await moveBack();
  expect(await employ(deps, asked)).toEqual({ verdict: 'left' });
  expect(await readings()).toBe(1);
});

test('who was heard of since then is read again', async () => {
  const { deps, asked, moveBack } = await openOne();
  await moveBack();
  expect(await employ(deps, { ...asked, seenAtOpening: false })).toEqual({ verdict: 'left' });
});

test('ten seconds later they are read again', async () => {
  const { deps, asked, moveBack } = await openOne();
  await moveBack();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_500 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await employ(deps, asked)).toEqual({ verdict: 'left' });
});

test('where people are enrolled in one stage and employed in another, they are read again', async () => {
  const { deps, asked, readings } = await openOne('enrolAt: [OFFER, HIRED], createAt: [HIRED]');
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
  expect(await readings()).toBe(1);
});
