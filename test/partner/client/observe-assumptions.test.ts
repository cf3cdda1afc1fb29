import { expect, test } from 'vitest';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { observableAssumptions } from '../../../src/partner/client/observe-assumptions.ts';
import type { Observation } from '../../../src/partner/client/types.ts';
import type { Script } from './scripted-partner.ts';
import { scriptedPartner } from './scripted-partner.ts';

/** What a call and its answer showed of one assumption. */
async function shown(
  assumption: string,
  call: (partner: PartnerClient) => Promise<unknown>,
  answer: ReturnType<Script>,
  overrides = {},
): Promise<boolean[]> {
  const seen: Observation[] = [];
  const { partner } = await scriptedPartner(() => answer, { overrides, onObserved: (some) => seen.push(...some) });
  await call(partner).catch(() => undefined);
  return seen.filter((one) => one.assumption === assumption).map(({ holds }) => holds);
}

const jobs = (...list: object[]) => ({ json: { status: 'success', jobs: list, totalJobs: list.length } });
const data = (value: unknown) => ({ json: { status: 'success', data: value } });
const listJobs = (partner: PartnerClient) => partner.jobs.list();
const getCandidate = (partner: PartnerClient) =>
  partner.onboarding.getCandidate({ params: { onboardingCandidateId: 'oc' } });
const fetchPeople = (partner: PartnerClient) =>
  partner.jobCandidates.bulkFetch({ body: { jobCandidateIds: ['7', '8', '9'] } });
const listHired = (partner: PartnerClient) => partner.jobCandidates.listByStageType({ query: { stageType: 'HIRED' } });
const findEnrolment = (partner: PartnerClient) => partner.onboarding.listCandidates({ query: { externalRef: 'ours' } });
const writeStatus = (partner: PartnerClient) =>
  partner.onboarding.setExternalStatus({ params: { onboardingCandidateId: 'oc' }, body: { status: 'hired' } });
const writeValue = (partner: PartnerClient) =>
  partner.customFieldValues.upsertBulk({
    body: [{ customFieldId: 'cf', entityType: 'candidate', entityId: '7', value: 'x' }],
  });

type Call = Parameters<typeof shown>[1];

test.each<[string, Call, ReturnType<Script>, boolean[]]>([
  ['J5', listJobs, jobs({ createdAt: 1_700_000_000_000 }), [true]],
  ['J5', listJobs, jobs({ createdAt: 1_700_000_000 }), [false]],
  ['J5', listJobs, jobs({}), []],
  ['J3', listJobs, jobs({ createdAt: 2 }, { createdAt: 1 }), [true]],
  ['J3', listJobs, jobs({ createdAt: 1 }, { createdAt: 2 }), [false]],
  ['J3', listJobs, jobs({ createdAt: 1 }), []],
  ['STAGE', fetchPeople, data([{ id: '7' }]), [true]],
  ['STAGE', fetchPeople, data([{ id: '7', currentStageId: 4 }]), [false]],
  ['STAGED', listHired, data([{ jobCandidateDetails: { id: 7 } }]), [true]],
  ['STAGED', listHired, data([{ jobCandidateDetails: [{ id: 7 }] }]), [false]],
  ['STAGED', listHired, data([]), []],
  ['C18', fetchPeople, data([{ id: '7' }, { id: 9 }]), [true]],
  ['C18', fetchPeople, data([{ id: '9' }, { id: '7' }]), [false]],
  ['O6', findEnrolment, data({ candidates: [{ externalRef: 'ours' }], pagination: { total: 1 } }), [true]],
  ['O6', findEnrolment, data({ candidates: [{ externalRef: 'other' }], pagination: { total: 1 } }), [false]],
  ['O6', findEnrolment, data({ candidates: [], pagination: { total: 0 } }), []],
  ['G12', findEnrolment, data({ candidates: [], pagination: { total: 0 } }), [true]],
  ['G12', findEnrolment, data({ candidates: [], total: 0 }), [false]],
  ['O15', getCandidate, data({ onboardingCandidateId: 'oc', enrolledAt: '2026-01-01T00:00:00Z' }), [false]],
  ['F12', writeValue, data([{ id: 1 }]), [true]],
  ['F12', writeValue, data({ saved: 1 }), [false]],
  ['F12', writeValue, { status: 400, json: { error: { code: 'INVALID_REQUEST' } } }, []],
  ['O2', writeStatus, data({}), [true]],
  ['O2', writeStatus, { status: 400, json: { error: { code: 'INVALID_REQUEST' } } }, [false]],
  ['O2', writeStatus, { status: 404, json: { error: { code: 'NOT_FOUND' } } }, []],
  [
    'G16',
    listJobs,
    { status: 429, json: { error: { code: 'RATE_LIMITED' } }, headers: { 'retry-after': '1' } },
    [true],
  ],
  ['G16', listJobs, { status: 429, json: { message: 'Too many' } }, [false]],
  ['S1', listJobs, { status: 401, json: { message: 'Invalid key' } }, [true]],
  ['S1', listJobs, { status: 403, json: { message: 'Invalid key' } }, [false]],
  ['S1', listJobs, { status: 403, json: { error: { code: 'PERMISSION_DENIED' } } }, []],
])('%s: %# an answer confirms, contradicts or shows nothing', async (assumption, call, answer, expected) => {
  expect(observableAssumptions).toContain(assumption);
  expect(await shown(assumption, call, answer)).toEqual(expected);
});

test('what a tenant overrides is not judged', async () => {
  const overrides = { externalStatusBody: { status: 'state' } };
  expect(await shown('O2', writeStatus, data({}), overrides)).toEqual([]);
});
