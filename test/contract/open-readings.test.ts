import { describe, expect, it } from 'vitest';
import { readErrorBody, valueAt } from '../../src/partner/contract/endpoint.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { instantOf } from '../../src/partner/contract/shapes.ts';

const field = { id: 'cf_1', entityType: 'job', fieldLabel: 'Level', fieldType: 'text' };
const person = { id: '501', email: 'ada@example.org' };
const campaign = { id: 3, title: 'Call' };

/** Question, endpoint, body in another reading than the one chosen, path in the parsed body and what must be there. */
const overrides: [string, { response: { parse(body: unknown): unknown } }, unknown, string, unknown][] = [
  ['B7 a bare list', contract.bookingSchedules.listLocations, [{ id: 1 }], 'data', [{ id: 1 }]],
  ['B7 a wrapped list', contract.bookingSchedules.listQuestions, { status: 'success', data: [] }, 'data', []],
  [
    'C2 flags around the candidate',
    contract.candidates.add,
    { status: 'success', data: { candidate: person, isExisting: true } },
    'data.id',
    '501',
  ],
  [
    'C2 flags around the candidate',
    contract.candidates.add,
    { status: 'success', data: { candidate: person, isExisting: true } },
    'data.isExisting',
    true,
  ],
  [
    'C16 a flag inside pagination',
    contract.candidates.getBatch,
    { success: true, data: { candidates: [], pagination: { hasNextPage: true } } },
    'data.hasNextPage',
    true,
  ],
  [
    'C2 flags beside data',
    contract.candidates.add,
    { status: 'success', data: person, isExisting: true, jobCandidateId: '7' },
    'data.jobCandidateId',
    '7',
  ],
  [
    'C11 ids of jobs',
    contract.candidates.get,
    { status: 'success', data: { ...person, jobs: [3] } },
    'data.jobs',
    ['3'],
  ],
  [
    'A4 outcomes under another name',
    contract.assessments.getInviteBatch,
    { status: 'success', data: { batchId: 'b', outcomes: [{ status: 'skipped', reason: { code: 'X' } }] } },
    'data.results',
    [{ status: 'skipped', reason: { code: 'X' } }],
  ],
  ['F12 a list of one', contract.customFieldValues.upsert, { status: 'success', data: [{ id: 4 }] }, 'data.id', '4'],
  ['F12 an id', contract.customFieldValues.upsert, { status: 'success', data: 4 }, 'data.id', '4'],
  ['F12 only a message', contract.customFieldValues.upsertBulk, { status: 'success', message: 'Saved' }, 'data', []],
  [
    'G12 a list inside data',
    contract.candidates.list,
    { status: 'success', data: { candidates: [person], pagination: { total: 1 } } },
    'pagination.total',
    1,
  ],
  [
    'G12 a list inside data',
    contract.candidates.list,
    { status: 'success', data: { candidates: [person] } },
    'data',
    [person],
  ],
  [
    'G12 a total at the top',
    contract.candidates.list,
    { status: 'success', data: [person], total: 1 },
    'pagination.total',
    1,
  ],
  [
    'J5 text for createdAt',
    contract.jobs.create,
    { id: '7', title: 'Nurse', status: 'NEW', createdAt: '2026-01-01' },
    'id',
    '7',
  ],
  ['K2 a move without a record', contract.jobCandidates.move, { status: 'success', message: 'Moved' }, 'data', {}],
  [
    'K9 counters in a summary',
    contract.jobCandidates.getRescore,
    { status: 'success', data: { status: 'completed', summary: { totalFailed: 1 } } },
    'data.totalFailed',
    1,
  ],
  [
    'K9 the status in the envelope',
    contract.jobCandidates.getRescore,
    { status: 'completed', data: { totalFailed: 0 } },
    'data.status',
    'completed',
  ],
  [
    'G12 a total as text',
    contract.candidates.list,
    { status: 'success', data: [], pagination: { total: '12' } },
    'pagination.total',
    12,
  ],
  ['M10 a bare campaign', contract.campaigns.create, campaign, 'campaign.id', '3'],
  ['M10 a wrapped campaign', contract.campaigns.create, { status: 'success', data: campaign }, 'campaign.id', '3'],
  ['O2 a write without an answer', contract.onboarding.setExternalStatus, undefined, 'data', {}],
  [
    'O5 enrolled people as data',
    contract.onboarding.enrolBulk,
    { status: 'success', data: [{ onboardingCandidateId: 'o' }] },
    'data.enrolled',
    [{ onboardingCandidateId: 'o' }],
  ],
  [
    'O5 enrolled people as candidates',
    contract.onboarding.enrolBulk,
    { status: 'success', data: { candidates: [] } },
    'data.enrolled',
    [],
  ],
  ['O14 offers as data', contract.onboarding.listOffers, { status: 'success', data: [] }, 'data.offers', []],
  ['SITES a wrapped list', contract.sites.list, { status: 'success', data: [{ id: 1 }] }, 'sites', [{ id: 1 }]],
  ['§1 a definition without its wrapper', contract.customFields.get, field, 'data.id', 'cf_1'],
  [
    'a confirmation in the other family',
    contract.customFields.remove,
    { success: true, message: 'Deleted' },
    'status',
    'success',
  ],
  ['a confirmation without a body', contract.customFields.remove, undefined, 'status', 'success'],
];

describe('an answer that the specification leaves open', () => {
  it.each(overrides)('is read in the form %s', (_reading, endpoint, body, path, value) => {
    expect(valueAt(endpoint.response.parse(body), path)).toEqual(value);
  });

  it('keeps unknown keys and unknown enum values, and reads null as absent', () => {
    const item = contract.jobs.list.list.item.parse({
      id: 1,
      title: 'Nurse',
      status: 'PAUSED',
      salaryCurrency: null,
      shift: 'night',
    });
    expect(item).toMatchObject({ status: 'PAUSED', shift: 'night', salaryCurrency: null });
  });

  it('is refused when what it is about is not there', () => {
    expect(contract.onboarding.enrol.response.safeParse({ status: 'success', data: {} }).success).toBe(false);
    expect(contract.pipelines.get.response.safeParse({ error: { code: 'X' } }).success).toBe(false);
    expect(contract.pipelines.list.response.safeParse({ status: 'success', data: 'none' }).success).toBe(false);
  });
});

/** Question, endpoint, an item in another reading than the one chosen, and what of it must be read. */
const items: [string, { list: { item: { parse(item: unknown): unknown } } }, object, object][] = [
  ['C20 a date of birth as a number', contract.candidates.list, { ...person, dateOfBirth: 631152000000 }, person],
  ['C20 a category as an object', contract.candidates.list, { ...person, category: { id: 1 } }, person],
  [
    'J14 revenue with its unit',
    contract.jobs.list,
    { id: 7, title: 'Nurse', status: 'X', runningRevenue: 'USD 1,250' },
    { id: '7' },
  ],
  [
    'K16 form details as a list',
    contract.jobCandidates.listByStage,
    {
      candidate_details: person,
      jobCandidateDetails: { id: 1, jobId: 2, candidateId: 501 },
      onboardingFormDetails: [1],
    },
    { candidate_details: person },
  ],
  ['L5 a bare id', contract.assessmentFlows.listCandidates, { id: 9, status: 'FAILED' }, { flowCandidateId: '9' }],
  ['SITES an id as text', contract.sites.list, { id: 'site-1' }, { id: 'site-1' }],
  ['M10 a site as text', contract.campaigns.list, { id: 3, companySiteId: 'site-1' }, { companySiteId: 'site-1' }],
];

describe('a record that the specification leaves open', () => {
  it.each(items)('is read with %s', (_reading, endpoint, item, read) => {
    expect(endpoint.list.item.parse(item)).toMatchObject(read);
  });
});

describe('a refusal that the specification leaves open', () => {
  it.each([[['email']], ['email: taken'], [{ email: 'taken' }], [null]])(
    'keeps its code beside details %j (G15)',
    (details) => {
      const body = { error: { code: 'NOT_FOUND', message: 'x', details }, statusCode: '404' };
      expect(readErrorBody(body)?.code).toBe('NOT_FOUND');
    },
  );
});

describe('instantOf', () => {
  it.each([
    ['2026-01-05T08:00:00+08:00', '2026-01-05T00:00:00.000Z'],
    [1767571200000, '2026-01-05T00:00:00.000Z'],
    [1767571200, '2026-01-05T00:00:00.000Z'],
    ['1767571200000', '2026-01-05T00:00:00.000Z'],
    ['soon', undefined],
    [null, undefined],
    ['', undefined],
  ])('reads %s as %s', (time, instant) => {
    expect(instantOf(time)).toBe(instant);
  });
});
