import { expect, test } from 'vitest';
import { type Json, type OpenSandbox, openSandbox } from '../open-sandbox.ts';

interface Opened {
  status: number;
  text: string;
}

/** What a browser does with a form: it sends the fields, and follows to where it is sent. */
async function visit(address: string, fields?: [string, string][]): Promise<Opened> {
  const sent = fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
  const response = await fetch(address, sent);
  return { status: response.status, text: await response.text() };
}

async function someone(sandbox: OpenSandbox): Promise<number> {
  const candidate = { email: 'ada@example.net', firstName: 'Ada', lastName: '<Lopez>' };
  return (await sandbox.control.act('apply', { jobId: 50_001, candidate })).jobCandidateId;
}

async function application(sandbox: OpenSandbox, id: number): Promise<Json> {
  const query = `companyId=${String(sandbox.companyId)}`;
  return (await fetch(`${sandbox.controlUrl}/browse/applications/${String(id)}?${query}`)).json();
}

test('an enrolled person hands in the documents and finishes the steps of the journey', async () => {
  await using sandbox = await openSandbox();
  const [flow] = (await sandbox.api('GET', '/onboarding/flows')).body.data.flows;
  const person = { firstName: 'Ada', lastName: 'Lopez', email: 'ada@example.net' };
  const enrolled: Json = await sandbox.control.act('enrol', { flowId: flow.flowId, ...person });
  const { journeyUrl, onboardingCandidateId } = enrolled;
  expect(await visit(journeyUrl)).toMatchObject({ status: 200, text: expect.stringContaining('2 of 2 steps') });
  expect((await visit(journeyUrl, [['step', 'doc_collection']])).text).toContain('Name at least one document');
  const documents: [string, string][] = [
    ['step', 'doc_collection'],
    ['document', 'Passport'],
  ];
  expect((await visit(journeyUrl, documents)).text).toContain('Passport');
  expect((await visit(journeyUrl, documents)).text).toContain('This step is not open');
  await visit(journeyUrl, [['step', 'background_verification']]);
  const { body } = await sandbox.api('GET', `/onboarding/candidates/${String(onboardingCandidateId)}`);
  expect(body.data).toMatchObject({ overallStatus: 'under_review', journeyUrl });
});

test('the journey of whoever was terminated no longer resolves', async () => {
  await using sandbox = await openSandbox();
  const [flow] = (await sandbox.api('GET', '/onboarding/flows')).body.data.flows;
  const person = { firstName: 'Ada', lastName: 'Lopez', email: 'ada@example.net' };
  const enrolled: Json = await sandbox.control.act('enrol', { flowId: flow.flowId, ...person });
  const { onboardingCandidateId, journeyUrl } = enrolled;
  await sandbox.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus: 'terminated' });
  expect((await visit(journeyUrl)).status).toBe(404);
  expect((await visit(journeyUrl, [['step', 'doc_collection']])).status).toBe(404);
});

test('whoever got a booking link picks a time, and the slot is theirs', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const jobCandidateId = await someone(sandbox);
  const schedules = (await sandbox.api('GET', '/booking-schedules?scheduleProfile=INTERVIEW')).body.data;
  const link = await sandbox.api('POST', `/booking-schedules/${String(schedules[0].id)}/links`, {
    entityType: 'JOB_CANDIDATE',
    entityId: String(jobCandidateId),
  });
  const { url, id } = link.body.data;
  expect((await visit(url, [])).text).toContain('Choose a time');
  const slot = /name="slot" value="([^"]+)"/.exec((await visit(url)).text)?.[1] ?? '';
  expect((await visit(url, [['slot', slot]])).text).toContain('You are booked for');
  const booked = (await sandbox.api('GET', `/bookings?bookingLinkId=${String(id)}`)).body.data;
  expect(booked).toMatchObject([{ scheduledStartAt: slot, entityId: String(jobCandidateId) }]);
  expect((await visit(url, [['slot', slot]])).text).toContain('This link can no longer be used');
});

test('an invited person takes the interview at the address of the assessment, nobody else does', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const jobCandidateId = await someone(sandbox);
  const [{ assessmentId, assessmentUrl }] = (await sandbox.api('GET', '/assessment')).body.data.assessments;
  await sandbox.control.act('inviteToInterview', { assessmentId, jobCandidateId });
  expect((await visit(assessmentUrl, [['email', 'eve@example.net']])).text).toContain('Nobody with this e-mail');
  const ada: [string, string] = ['email', 'Ada@example.net'];
  expect((await visit(assessmentUrl, [ada, ['step', 'begin']])).text).toContain('<textarea');
  expect((await visit(assessmentUrl, [ada, ['step', 'finish']])).text).toContain('handed in');
  expect((await visit(assessmentUrl, [ada, ['step', 'begin']])).text).toContain('handed in');
  const events = await sandbox.control.counts({ kind: 'event' });
  expect(events.event).toMatchObject({ 'interview.started': 1, 'interview.ended': 1 });
});

test('the signers of an offer sign one after the other, each at an address of their own', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const jobCandidateId = await someone(sandbox);
  const { offerId } = await sandbox.control.act('createOffer', { jobCandidateId });
  await sandbox.control.act('sendOffer', { offerId });
  const [first, second] = (await application(sandbox, jobCandidateId)).offers[0].signers;
  expect((await visit(second.url)).text).toContain('not your turn yet');
  expect((await visit(first.url, [['name', ' ']])).text).toContain('Type your name to sign');
  expect((await visit(first.url, [['name', 'Olivia Hart']])).text).toContain('You have signed');
  expect((await visit(second.url.replace(/.{32}$/, 'a'.repeat(32)))).status).toBe(404);
  expect((await visit(second.url, [['name', 'Ada Lopez']])).text).toContain('The offer is complete');
  expect((await application(sandbox, jobCandidateId)).offers[0].status).toBe('completed');
});

test('what people are called is text in these pages, and no script may run there', async () => {
  await using sandbox = await openSandbox({ jobs: 1 });
  const jobCandidateId = await someone(sandbox);
  await sandbox.control.act('createOffer', { jobCandidateId });
  const [signer] = (await application(sandbox, jobCandidateId)).offers[0].signers;
  const response = await fetch(signer.url);
  expect(await response.text()).toContain('Ada &lt;Lopez&gt;');
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; form-action/);
  expect((await fetch(new URL('/page/style.css', signer.url))).headers.get('content-type')).toContain('text/css');
});

test.each(['journey', 'book', 'assessment', 'sign'])(
  'an address under /%s that nobody was given is 404',
  async (kind) => {
    await using sandbox = await openSandbox();
    const address = new URL(`/${kind}/0123-4567`, sandbox.url).href;
    expect([(await visit(address)).status, (await visit(address, [])).status]).toEqual([404, 404]);
  },
);
