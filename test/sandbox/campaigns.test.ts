import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { open, otherKey } from './open-campaigns.ts';
import type { Json } from './open-sandbox.ts';

test('a campaign is created with its defaults, and shown in full', async () => {
  await using sandbox = await open();
  const { campaign } = await sandbox.partner.campaigns.create({ body: sandbox.good });
  expect(campaign).toEqual({
    id: campaign.id,
    title: 'Finish your interview',
    status: 'RUNNING',
    purposeType: 'ASSESSMENT_REMINDER',
    timezone: 'Asia/Manila',
    companySiteId: String(sandbox.good.companySiteId),
    accessLevel: 'COMPANY',
    createdAt: '2026-01-05T09:00:00.000Z',
    updatedAt: '2026-01-05T09:00:00.000Z',
    callSettings: { callType: 'AICall', aiCallScript: null },
    assessment: {
      assessmentTestId: null,
      assessmentName: null,
      jobTitle: 'Finish your interview',
      autoAddInvitedCandidates: false,
      assessmentFirstReminderDelayHours: null,
      assessmentReminderSmsTemplate: null,
      assessmentPostCallSmsTemplate: null,
    },
    schedule: {
      callTimeDisplay: '9:00 AM',
      callSchedule: { timeBasis: 'LOCAL', startTimeLocal: '09:00', startTimeUtc: '2026-01-06T01:00:00.000Z' },
      followUpRetries: [
        { time: '10:00', delayDays: 0 },
        { time: '11:30', delayDays: 0 },
        { time: '13:00', delayDays: 0 },
        { time: '14:30', delayDays: 0 },
      ],
    },
    messages: { openingMessage: 'Hello', closingMessage: 'Goodbye' },
  });
  const got = await sandbox.partner.campaigns.get({ params: { campaignId: campaign.id } });
  expect(got.campaign).toEqual(campaign);
});

test.each([
  ['an unknown key', { colour: 'red' }, 'colour'],
  ['a title of 501', { title: 'x'.repeat(501) }, 'title'],
  ['a blank title', { title: ' ' }, 'title'],
  ['no time zone', { timezone: 'Mars/Olympus' }, 'timezone'],
  ['an offset for a time zone', { timezone: '+05:00' }, 'timezone'],
  ['a blank opening message', { openingMessage: ' ' }, 'openingMessage'],
  ['no closing message', { closingMessage: '' }, 'closingMessage'],
  ['a number that is not verified', { phoneNumber: '+442079460001' }, 'phoneNumber'],
  ['no number', { phoneNumber: undefined }, 'phoneNumber'],
  ['a site that is not linked', { companySiteId: 803 }, 'companySiteId'],
  ['an unknown site', { companySiteId: 'nowhere' }, 'companySiteId'],
  ['a call time of 25:00', { callTime: '25:00' }, 'callTime'],
  ['a retry without a day', { followUpRetries: [{ time: '10:00' }] }, 'followUpRetries[0].delayDays'],
  ['a retry beyond the calendar', { followUpRetries: [{ time: '10:00', delayDays: 1e12 }] }, 'followUpRetries[0]'],
  ['a start that is no time', { callStartTimeUtc: 'soon' }, 'callStartTimeUtc'],
  ['an unknown call type', { callType: 'SMS' }, 'callType'],
  ['an unknown purpose', { purposeType: 'PARTY' }, 'purposeType'],
  ['an unknown status', { status: 'PAUSED' }, 'status'],
  [
    'a purpose that is not enabled',
    { purposeType: 'INTEREST_CHECK', jobDetails: { interestItemDescription: 'Night shifts' } },
    'purposeType',
  ],
])('a campaign with %s is 400 and not made', async (_name, more, field) => {
  await using sandbox = await open();
  const { status, code, details } = await sandbox.send(more);
  expect([status, code, details[0]]).toEqual([400, 'INVALID_REQUEST', field]);
  expect((await sandbox.api('GET', '/campaigns')).body.campaigns).toEqual([]);
});

test('enabled purposes ask for what each needs', async () => {
  await using sandbox = await open();
  await sandbox.control.act('enableCampaignPurposes', {});
  const slots = [{ date: '2026-01-12', start: '09:00', end: '10:00' }];
  const job = { title: 'Nurse', interviewSlots: slots };
  const online = {
    ...job,
    virtualPlatform: 'Video',
    virtualMeetingUrl: 'https://meet.example.com/1',
    virtualAdditionalInstructions: 'Be on time',
  };
  const whole: [string, Record<string, unknown>][] = [
    ['SCHEDULE', job],
    ['ONLINE_INTERVIEW', online],
    ['INTEREST_CHECK', { interestItemDescription: 'Night shifts' }],
  ];
  for (const [purposeType, jobDetails] of whole) {
    const made = await sandbox.send({ purposeType, jobDetails });
    expect([purposeType, made.status, 'assessment' in made.campaign]).toEqual([purposeType, 200, false]);
    for (const key of Object.keys(jobDetails)) {
      for (const missing of [undefined, '', []]) {
        const refused = await sandbox.send({ purposeType, jobDetails: { ...jobDetails, [key]: missing } });
        expect([key, refused.status, refused.details]).toEqual([key, 400, [`jobDetails.${key}`]]);
      }
    }
  }
  await sandbox.control.act('enableCampaignPurposes', { purposes: ['SCHEDULE'] });
  expect((await sandbox.send()).details).toEqual(['purposeType']);
});

test('a reminder names its job by jobTitle, else assessment, else title; an unknown assessment is 404', async () => {
  await using sandbox = await open();
  const made = await sandbox.api('POST', '/assessment/audio-interviews', {
    title: 'Night nurse interview',
    hiringForRole: 'Nurse',
    purposeOfInterview: 'Find out who stays calm',
  });
  const assessmentTestId = made.body.data.assessmentId;
  const block = async (jobDetails: object) => (await sandbox.send({ jobDetails })).campaign.assessment;
  expect(await block({ assessmentTestId, jobTitle: 'Nurse', autoAddInvitedCandidates: true })).toMatchObject({
    assessmentTestId,
    assessmentName: 'Night nurse interview',
    jobTitle: 'Nurse',
    autoAddInvitedCandidates: true,
  });
  expect((await block({ assessmentTestId, jobTitle: ' ' })).jobTitle).toBe('Night nurse interview');
  expect((await block({ assessmentName: 'Chat', jobTitle: '' })).jobTitle).toBe('Chat');
  expect((await block({ jobTitle: '' })).jobTitle).toBe('Finish your interview');
  expect(await sandbox.send({ jobDetails: { assessmentTestId: 'none' } })).toMatchObject({
    status: 404,
    code: 'NOT_FOUND',
  });
});

test('callType is taken in any case, the site as text too, and a draft stays one', async () => {
  await using sandbox = await open();
  const companySiteId = String(sandbox.good.companySiteId);
  const { campaign } = await sandbox.send({ callType: 'ivr', companySiteId, aiCallScript: 'Hi', status: 'DRAFT' });
  expect(campaign).toMatchObject({
    status: 'DRAFT',
    companySiteId: sandbox.good.companySiteId,
    callSettings: { callType: 'IVR', aiCallScript: 'Hi' },
  });
  await sandbox.control.act('verifyNumber', { phoneNumber: '+15550100', verified: true });
  expect((await sandbox.send({ phoneNumber: '+15550100' })).status).toBe(200);
  await sandbox.control.act('verifyNumber', { phoneNumber: '+15550100', verified: false });
  expect((await sandbox.send({ phoneNumber: '+15550100' })).status).toBe(400);
});

test('campaigns are listed newest first without schedule and messages, by exact status and purpose', async () => {
  await using sandbox = await open();
  const ids: number[] = [];
  for (const status of ['RUNNING', 'DRAFT', 'RUNNING']) ids.unshift((await sandbox.send({ status })).campaign.id);
  const { items } = await sandbox.partner.readAll(contract.campaigns.list);
  expect(items.map((one) => one.id)).toEqual(ids.map(String));
  expect(Object.keys(items[0]!)).not.toContain('schedule');
  expect(Object.keys(items[0]!)).not.toContain('messages');
  const found = async (query: string) => {
    const { body } = await sandbox.api('GET', `/campaigns?${query}`);
    return body.campaigns?.map((one: Json) => one.id) ?? body.error.code;
  };
  expect(await found('status=DRAFT')).toEqual([ids[1]]);
  expect(await found('purposeType=ASSESSMENT_REMINDER&limit=2&page=2')).toEqual([ids[2]]);
  expect(await found('status=draft')).toEqual([]);
  expect(await found('purposeType=PARTY')).toEqual([]);
  for (const query of ['page=0', 'limit=0', 'limit=101']) expect(await found(query)).toBe('INVALID_REQUEST');
  expect((await sandbox.api('GET', '/campaigns?limit=2')).body.pagination).toEqual({
    page: 1,
    limit: 2,
    total: 3,
    totalPages: 2,
  });
  await sandbox.control.act('setCampaign', { campaignId: ids[0]!, status: 'COMPLETED' });
  expect(await found('status=COMPLETED')).toEqual([ids[0]]);
  expect((await sandbox.api('GET', '/campaigns', undefined, { key: otherKey })).body.campaigns).toEqual([]);
});

test("a campaign that is unknown, deleted, another company's, not a COMPANY one, or no id at all is 404", async () => {
  await using sandbox = await open();
  const make = async () => (await sandbox.send()).campaign.id as number;
  const [kept, deleted, personal] = [await make(), await make(), await make()];
  await sandbox.control.act('deleteCampaign', { campaignId: deleted });
  await sandbox.control.act('setCampaign', { campaignId: personal, accessLevel: 'USER' });
  const leads = { leads: [{ firstName: 'Ada', phone: '+447700900123' }] };
  for (const [id, key] of [
    [kept, otherKey],
    [deleted, sandbox.key],
    [personal, sandbox.key],
    [999, sandbox.key],
    ['first', sandbox.key],
    ['0', sandbox.key],
  ] as const) {
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/leads', undefined],
      ['POST', '/leads', leads],
    ] as const) {
      const answered = await sandbox.api(method, `/campaigns/${id}${path}`, body, { key });
      expect([id, path, answered.status, answered.body.error.code]).toEqual([id, path, 404, 'NOT_FOUND']);
    }
  }
  expect((await sandbox.api('GET', '/campaigns')).body.campaigns.map((one: Json) => one.id)).toEqual([kept]);
});

test('leads are added, one or many, and listed with their status labels', async () => {
  await using sandbox = await open();
  const params = { campaignId: (await sandbox.send()).campaign.id as number };
  const ada = { firstName: 'Ada', phone: '+447700900123' };
  const contact = { ...ada, lastName: 'Lovelace', email: 'ada@example.com', consentAt: '2026-11-01T10:00:00Z' };
  const full = { ...contact, externalRef: 'x'.repeat(255) };
  const first = await sandbox.partner.campaigns.addLeads({ params, body: { leads: [ada] } });
  const more = await sandbox.partner.campaigns.addLeads({ params, body: { leads: [full, ada] } });
  const ids = [...(first['leads'] as Json[]), ...(more['leads'] as Json[])].map((lead) => lead.leadId);
  await sandbox.control.act('setLeadStatus', { leadId: ids[1], status: 'NO_ANSWER' });
  const { items } = await sandbox.partner.readAll(contract.campaigns.listLeads, { params });
  const none = { lastName: null, email: null, consentAt: null };
  expect(items).toEqual([
    { leadId: String(ids[0]), status: 'PENDING', statusLabel: 'Pending', ...none, ...ada },
    { leadId: String(ids[1]), status: 'NO_ANSWER', statusLabel: 'No answer', ...contact },
    { leadId: String(ids[2]), status: 'PENDING', statusLabel: 'Pending', ...none, ...ada },
  ]);
  for (const body of [
    {},
    { leads: [] },
    { leads: [{ ...ada, phone: undefined }] },
    { leads: [{ ...ada, phone: 'at home' }] },
    { leads: [{ ...ada, phone: '112' }] },
    { leads: [ada, { ...ada, firstName: ' ' }] },
    { leads: [{ ...ada, email: 'nobody' }] },
    { leads: [{ ...ada, externalRef: 'x'.repeat(256) }] },
    { leads: [{ ...ada, shoe: 44 }] },
    { leads: [ada], colour: 'red' },
  ]) {
    const { status, body: refused } = await sandbox.api('POST', `/campaigns/${params.campaignId}/leads`, body);
    expect([status, refused.error.code]).toEqual([400, 'INVALID_REQUEST']);
  }
  expect((await sandbox.control.counts({ kind: 'effect' })).effect).toMatchObject({ 'campaign-lead': 3, campaign: 1 });
});
