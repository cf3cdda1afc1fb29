import { expect, test } from 'vitest';
import type { ConnectorError } from '../../../src/errors.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { errorOf } from '../../http/servers.ts';
import { scriptedPartner } from './scripted-partner.ts';

const params = { onboardingCandidateId: 'oc_1' };
const record = { onboardingCandidateId: 'oc_1', overallStatus: 'completed' };

test('the external status travels under the names this partner has, and comes back under ours', async () => {
  const overrides = {
    externalStatusBody: { status: 'hrisState', employeeId: 'hrisId' },
    externalStatusAt: 'hris.link',
  };
  const { partner, seen } = await scriptedPartner(
    () => ({ json: { status: 'success', data: { ...record, hris: { link: { hrisState: 'ACTIVE', hrisId: 'E1' } } } } }),
    { overrides },
  );
  const body = { status: 'ACTIVE', employeeId: 'E1' };
  const { data } = await partner.onboarding.setExternalStatus({ params, body });
  expect(seen[0]?.body).toEqual({ hrisState: 'ACTIVE', hrisId: 'E1' });
  expect(data.externalStatus).toMatchObject(body);
  expect((await partner.onboarding.getCandidate({ params })).data.externalStatus).toMatchObject(body);
});

test.each([
  ['in an object', { externalStatus: { status: 'ACTIVE', employeeId: 'E1' } }],
  ['flat, beside the other fields', { externalStatus: 'ACTIVE', employeeId: 'E1' }],
  ['flat, under the names that are sent', { status: 'ACTIVE', employeeId: 'E1' }],
])('the external status is read %s, without configuration', async (_how, shown) => {
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data: { ...record, ...shown } } }));
  const { data } = await partner.onboarding.getCandidate({ params });
  expect(data.externalStatus).toEqual({ status: 'ACTIVE', employeeId: 'E1' });
});

test('an override does not hide the other forms of the external status', async () => {
  const overrides = {
    externalStatusBody: { status: 'hrisState', employeeId: 'hrisId' },
    externalStatusAt: 'hris.link',
  };
  const read = async (shown: object) => {
    const json = { status: 'success', data: { ...record, ...shown } };
    const { partner } = await scriptedPartner(() => ({ json }), { overrides });
    return (await partner.onboarding.getCandidate({ params })).data.externalStatus;
  };
  const expected = { status: 'ACTIVE', employeeId: 'E1' };
  expect(await read({ hrisState: 'ACTIVE', hrisId: 'E1' })).toEqual(expected);
  expect(await read({ externalStatus: expected })).toEqual(expected);
  expect(await read({ status: 'active' })).toBeUndefined();
});

test('query names are renamed for one operation, page names included', async () => {
  const queryNames = { 'onboarding.listCandidates': { externalRef: 'reference', page: 'p' } };
  const { partner, seen } = await scriptedPartner(
    () => ({ json: { status: 'success', data: { candidates: [record], pagination: { total: 1 } } } }),
    { overrides: { queryNames } },
  );
  await partner.readAll(contract.onboarding.listCandidates, { query: { externalRef: 'r' } });
  expect(seen[0]?.query).toEqual({ reference: 'r', p: '1', limit: '100' });
});

test('names of a body are renamed for one operation, those of the records in its lists included', async () => {
  const bodyNames = {
    'campaigns.addLeads': { leads: 'candidates', phone: 'phoneNumber' },
    'bookingSchedules.createBooking': { scheduledStartAt: 'startAt', bookingAnswers: 'answers' },
  };
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: { id: 1 } } }), {
    overrides: { bodyNames },
  });
  const leads = [{ firstName: 'Ana', phone: '+4930123456' }];
  await partner.campaigns.addLeads({ params: { campaignId: '4' }, body: { leads } });
  expect(seen[0]?.body).toEqual({ candidates: [{ firstName: 'Ana', phoneNumber: '+4930123456' }] });
  const slot = { entityType: 'JOB_CANDIDATE', entityId: '9', scheduledStartAt: '2027-01-11T09:00:00.000Z' } as const;
  const answers = { scheduledStartAt: 'a question of that id keeps it' };
  await partner.bookingSchedules
    .createBooking({ params: { bookingScheduleId: 's1' }, body: { ...slot, bookingAnswers: answers } })
    .catch(() => undefined);
  expect(seen[1]?.body).toEqual({
    entityType: 'JOB_CANDIDATE',
    entityId: '9',
    startAt: '2027-01-11T09:00:00.000Z',
    answers,
  });
});

test('the reason of a termination is renamed, or left out with the body', async () => {
  const call = async (terminateReason: string | null) => {
    const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: record } }), {
      overrides: { terminateReason },
    });
    await partner.onboarding.terminate({ params, body: { reason: 'candidate withdrew' } });
    return seen[0]?.body;
  };
  expect(await call('note')).toEqual({ note: 'candidate withdrew' });
  expect(await call(null)).toBeUndefined();
});

test('a termination without a body sends none', async () => {
  const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: record } }));
  await partner.onboarding.terminate({ params });
  expect(seen[0]?.body).toBeUndefined();
  expect(seen[0]?.headers['content-type']).toBeUndefined();
});

test('the bulk upsert is bare, or wrapped where this partner wants a key', async () => {
  const value = { customFieldId: 'f', entityType: 'candidate' as const, entityId: 1, value: 'x' };
  const call = async (valuesBulkKey: string | null) => {
    const { partner, seen } = await scriptedPartner(() => ({ json: { status: 'success', data: [] } }), {
      overrides: { valuesBulkKey },
    });
    await partner.customFieldValues.upsertBulk({ body: [value] });
    return seen[0]?.body;
  };
  expect(await call(null)).toEqual([value]);
  expect(await call('values')).toEqual({ values: [value] });
});

test("a job candidate's stage is read where the tenant says it stands, and nowhere else", async () => {
  const jobCandidate = { id: 1, stage: { id: 12 } };
  const named = await scriptedPartner(() => ({ json: {} }), { overrides: { jobCandidateStageField: 'stage.id' } });
  const unnamed = await scriptedPartner(() => ({ json: {} }));
  expect(named.partner.stageOf(jobCandidate)).toBe(12);
  expect(unnamed.partner.stageOf(jobCandidate)).toBeUndefined();
});

test.each([
  ['active', 200, { isApiKeyExists: true }],
  ['active', 200, { anything: 1 }],
  ['refused', 200, { message: 'API key not found', isApiKeyExists: false }],
  ['refused', 404, { message: 'API key not found', isApiKeyExists: false }],
  ['refused', 401, { message: 'Invalid API key' }],
  ['unknown', 404, { error: { code: 'NOT_FOUND', message: 'x' } }],
])('the key is %s when its status answers %i %j', async (expected, status, json) => {
  const { partner, seen } = await scriptedPartner(() => ({ status, json }), { overrides: { keyStatusPath: '/me' } });
  expect(await partner.keyStatus()).toBe(expected);
  expect(seen[0]?.path).toBe('/me');
});

const refuse = (details: object) => () => ({
  status: 400,
  json: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'no', details } },
});

test.each([
  ['jobCandidates.listByStageType', { stageType: 'is not allowed' }, ' (stageType)', 'partner.overrides.queryNames'],
  ['jobCandidates.listByStageType', { kind: 'is required' }, '', 'partner.overrides.queryNames'],
  ['onboarding.listCandidates', { externalRef: 'is not allowed' }, ' (externalRef)', 'partner.overrides.queryNames'],
  ['onboarding.setExternalStatus', { status: 'unknown' }, ' (status)', 'partner.overrides.externalStatusBody'],
  ['onboarding.terminate', { reason: 'unknown' }, ' (reason)', 'partner.overrides.terminateReason'],
  ['customFieldValues.upsertBulk', { values: 'is required' }, '', 'partner.overrides.valuesBulkKey'],
] as const)('a refusal of %s with %j leads to the setting that renames', async (id, details, fields, override) => {
  const { partner } = await scriptedPartner(refuse(details));
  const calls = {
    'jobCandidates.listByStageType': () => partner.jobCandidates.listByStageType({ query: { stageType: 'HIRED' } }),
    'onboarding.listCandidates': () => partner.onboarding.listCandidates({ query: { externalRef: 'r' } }),
    'onboarding.setExternalStatus': () => partner.onboarding.setExternalStatus({ params, body: { status: 'hired' } }),
    'onboarding.terminate': () => partner.onboarding.terminate({ params, body: { reason: 'left' } }),
    'customFieldValues.upsertBulk': () =>
      partner.customFieldValues.upsertBulk({
        body: [{ customFieldId: 'cf', entityType: 'candidate', entityId: '1', value: 'x' }],
      }),
  };
  const { message } = await errorOf<ConnectorError>(calls[id]());
  expect(message).toContain(`so if this partner has others, set ${override} for ${id}${fields}.`);
});

test('a refusal of data whose names are specified mentions no setting', async () => {
  const { partner } = await scriptedPartner(refuse({ email: 'taken', '[0].value': 'no option' }));
  const values = [{ customFieldId: 'cf', entityType: 'candidate' as const, entityId: '1', value: 'x' }];
  const upsert = await errorOf<ConnectorError>(partner.customFieldValues.upsertBulk({ body: values }));
  expect(upsert.message).toMatch(/: the data was refused \(value\)\.$/);
  const body = { firstName: 'Ada', lastName: 'Li', email: 'ada@example.com' };
  const error = await errorOf<ConnectorError>(partner.onboarding.enrol({ params: { flowId: '1234' }, body }));
  expect(error.message).toMatch(/: the data was refused \(email\)\.$/);
});
