import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { scriptedPartner } from './scripted-partner.ts';

test('the flag of a batch is read beside its data', async () => {
  const { partner } = await scriptedPartner((r) => {
    const rows = [{ id: 1, email: 'c1@example.com' }];
    return { json: { success: true, data: rows, hasNextPage: r.query['page'] === '1' } };
  });
  const { data } = await partner.candidates.getBatch({ params: { batchId: 'b' }, query: { page: 1, perPage: 10 } });
  expect([data.candidates.length, data.hasNextPage]).toEqual([1, true]);
});

test('the list of a batch is read, whatever it is called', async () => {
  const parsedCandidates = [{ id: 1, email: 'c1@example.com' }];
  const { partner } = await scriptedPartner(() => ({
    json: { success: true, data: { batchId: 'b', parsedCandidates, hasNextPage: false } },
  }));
  const { items } = await partner.readAll(contract.candidates.getBatch, { params: { batchId: 'b' } });
  expect(items.map(({ id }) => String(id))).toEqual(['1']);
});

test('reports and documents are read, whatever their ids are called', async () => {
  const documents = [{ documentId: 'd', name: 'Contract' }];
  const reports = [{ reportId: 'r', name: 'Medical' }, { id: 7 }, { reportId: 'd', name: 'Of the same number' }];
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data: { documents, reports } } }));
  const params = { onboardingCandidateId: 'o' };
  const { items, unreadable } = await partner.readAll(contract.onboarding.listDocuments, { params });
  expect([items.map(({ documentId }) => documentId), unreadable]).toEqual([['d', 'r', '7', 'report:d'], []]);
});

test('a batch of invitations is read without its id, and as a bare list of outcomes', async () => {
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data: [{ status: 'invited' }] } }));
  const { data } = await partner.assessments.getInviteBatch({ params: { assessmentId: 'a', batchId: 'b' } });
  expect(data.results).toMatchObject([{ status: 'invited' }]);
});

test('leads that were added are no failure, whatever the answer shows of them', async () => {
  const answers = [{ message: '1 lead added' }, { status: 'success', data: { leadId: 5 } }, { leads: [{ leadId: 5 }] }];
  const { partner } = await scriptedPartner(() => ({ json: answers.shift() }));
  const input = { params: { campaignId: 1 }, body: { leads: [{ firstName: 'Ada', phone: '+4930123456' }] } };
  const added = [
    await partner.campaigns.addLeads(input),
    await partner.campaigns.addLeads(input),
    await partner.campaigns.addLeads(input),
  ];
  expect(added.map(({ leads }) => leads)).toEqual([[], [], [{ leadId: 5 }]]);
});

test.each([
  ['bare values', { f: 'blue' }, { f: { value: 'blue' } }],
  ['a list', [{ customFieldId: 'f', value: 'blue' }], {}],
  ['the form of a list', { f: { label: 'Colour', value: 'blue' } }, { f: { label: 'Colour', value: 'blue' } }],
])('a job that was created is no failure, although its custom fields come as %s', async (_what, customFields, read) => {
  const job = { id: 7, title: 'Engineer', status: 'DRAFT', customFields };
  const { partner } = await scriptedPartner(() => ({ json: job }));
  const created = await partner.jobs.create({ body: { title: 'Engineer', city: 'Rome', state: '', country: 'Italy' } });
  expect(created).toMatchObject({ id: '7', customFields: read });
});

test('custom fields of a candidate, whose form is not shown, hide no candidate', async () => {
  const forms = [
    { f: 'blue' },
    { f: { label: 'Colour', value: 'blue' } },
    [],
    [{ customFieldId: 'f', value: 'blue' }],
    null,
  ];
  const data = forms.map((customFields, index) => ({ id: index + 1, customFields }));
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data, pagination: { total: 5 } } }));
  const { items, unreadable } = await partner.readAll(contract.candidates.list);
  expect(unreadable).toEqual([]);
  const shown = { f: { label: 'Colour', value: 'blue' } };
  expect(items.map(({ customFields }) => customFields)).toEqual([{ f: { value: 'blue' } }, shown, {}, {}, null]);
});

// Sections 4.5 and 4.9 show no body for these: only that the value is stored, or that the call is confirmed.
test.each([200, 204])('a write is no failure although %i comes without a body; a read is', async (status) => {
  const { partner } = await scriptedPartner(() => ({ status, text: '' }));
  const params = { onboardingCandidateId: 'oc_1' };
  await partner.onboarding.setExternalStatus({ params, body: { status: 'active', employeeId: '7' } });
  await partner.customFieldValues.remove({ params: { valueId: 7 } });
  await partner.jobCandidates.move({ params: { jobCandidateId: 7 }, body: { stageId: 4 } });
  for (const asked of [partner.onboarding.getCandidate({ params }), partner.pipelines.list()])
    await expect(asked).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', action: 'retry' });
  const enrolment = { firstName: 'Ada', lastName: 'Byron', email: 'ada@example.org' };
  await expect(partner.onboarding.enrol({ params: { flowId: 'f' }, body: enrolment })).rejects.toMatchObject({
    action: 'unknown',
  });
});

test.each([
  [{ results: [{ id: 1 }, { id: 2 }], meta: { pageNumber: 0, totalRecords: 2 }, links: {} }],
  [{ rows: [{ id: 1 }, { id: 2 }], count: 2, hasMore: false, cursor: null }],
])('a paged list is read under a name that nobody knows: %j', async (data) => {
  const { partner } = await scriptedPartner((r) => {
    const isFirst = r.query['pageNumber'] === '0';
    const none = Object.fromEntries(Object.entries(data).map(([key, one]) => [key, Array.isArray(one) ? [] : one]));
    return { json: { status: 'success', data: isFirst ? data : none } };
  });
  const { items } = await partner.readAll(contract.candidates.list, {}, { size: 10 });
  expect(items.map(({ id }) => id)).toEqual(['1', '2']);
});

test.each([
  [{ id: 1, firstName: 'Ada', skills: [] }],
  [{ people: [], groups: [] }],
  [{ message: 'try again', errors: [] }],
])('what may be no list of people is none: %j', async (data) => {
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data } }));
  const read = partner.readAll(contract.candidates.list, {}, { size: 10 });
  await expect(read).rejects.toMatchObject({ code: 'UNREADABLE_ANSWER' });
});
