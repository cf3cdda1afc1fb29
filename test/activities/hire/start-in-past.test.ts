import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { dayBefore, dayOf } from '../../../src/day-of.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const daysAgo = (days: number) => dayOf(Date.now() - days * 86_400_000);

/** Somebody is hired whose start date is this one. */
async function hiredToStart(startDate: string, policies?: string) {
  const fleet = await fleetAtSandbox({ skip: true, ...(policies === undefined ? {} : { policies }) });
  await fleet.apply('acme', 'writeBack: { customField: "1" }\n');
  await fleet.reconcile('acme');
  const jobCandidateId = await fleet.hire();
  const setStart = async (value: string): Promise<void> => {
    const { partner } = fleet.sandbox;
    const [field] = (await partner.readAll(contract.customFields.list)).items;
    const people = await partner.readAll(contract.jobCandidates.bulkFetch, {
      body: { jobCandidateIds: [jobCandidateId] },
    });
    const entityId = String(people.items[0]?.candidateId);
    const body = [{ customFieldId: String(field?.id), entityType: 'candidate' as const, entityId, value }];
    await partner.inChunks(contract.customFieldValues.upsertBulk, { body });
  };
  await setStart(startDate);
  await fleet.open('acme', jobCandidateId);
  return { ...fleet, setStart, asked: { tenantId: 'acme', jobCandidateId, period: 1, seenAtOpening: false } };
}

test.each<[string, string]>([
  ['start-in-past', daysAgo(49)],
  ['retry', daysAgo(-10)],
])('who would have begun seven weeks ago is asked about, until somebody answers %s', async (answer, corrected) => {
  const { deps, store, asked, setStart } = await hiredToStart(daysAgo(49));
  const held = await employ(deps, asked);
  expect(held).toMatchObject({
    verdict: 'hold',
    hold: { code: 'START_DATE_PAST', details: { source: 'candidate.customFields[Start date]', days: 30 } },
  });
  if (held.verdict !== 'hold') return;
  const { holdId } = await openHold(deps, { ...asked, hold: held.hold });
  await setStart(corrected);
  await answerHold(store, holdId, { answer, arguments: [], by: 'ada' });
  await takeAnswer(deps, { ...asked, holdId });
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
});

test.each([
  ['Pacific/Niue', dayBefore(Date.now(), 30 * 86_400_000, 'Pacific/Niue'), 'employee'],
  ['Pacific/Kiritimati', dayBefore(Date.now(), 31 * 86_400_000, 'Pacific/Kiritimati'), 'hold'],
])('how long ago somebody began is told by the tenant’s day, in %s', async (timezone, startDate, verdict) => {
  const { deps, asked } = await hiredToStart(startDate, `timezone: ${timezone}`);
  expect(await employ(deps, asked)).toMatchObject({ verdict });
});

test.each<[string, string, string | undefined]>([
  ['four weeks ago', daysAgo(28), undefined],
  ['as long ago as the tenant allows', daysAgo(49), 'startDate: { past: 60d }'],
])('who began %s is made without a question', async (_what, startDate, policies) => {
  const { deps, asked } = await hiredToStart(startDate, policies);
  expect(await employ(deps, asked)).toMatchObject({ verdict: 'employee' });
});
