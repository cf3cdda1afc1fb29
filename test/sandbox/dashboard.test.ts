import { expect, test } from 'vitest';
import { countLedger, LEDGER_ROWS, readLedger, record } from '../../src/sandbox/records/ledger.ts';
import { openDashboard } from './open-dashboard.ts';
import type { Json } from './open-sandbox.ts';

const ada = { email: 'ada@example.com' };
const step = { stepKey: 'doc_collection' };

test('a job stands on the pipeline it is given, and takes its people along when it moves to another', () => {
  const { state, api, does, people, events } = openDashboard();
  const { id: pipelineId } = api('POST', '/pipelines', { name: 'Short' }).data;
  expect(does('createJob', { job: { title: 'Cook', pipelineId } })).toMatchObject({ pipelineId });
  does('move', { jobCandidateIds: [people[0]], stageType: 'HIRED' });
  expect(does('editJob', { jobId: 50_001, fields: { pipelineId } })).toMatchObject({ pipelineId });
  const stages: Json[] = api('GET', `/pipelines/${pipelineId}`).data.stages;
  const hired = stages.find((stage) => stage.type === 'HIRED').id;
  const inside = api('GET', `/job-candidates/stage/${hired}/candidates`).data;
  expect(inside.map((one: Json) => one.jobCandidateDetails.id)).toEqual([people[0]]);
  expect(events()['candidate.hired']).toBe(1);
  expect(readLedger(state, { kind: 'event', name: 'job.updated' })[0]?.detail).toMatchObject({
    updatedFields: ['pipelineId'],
  });
  expect(() => does('createJob', { job: { title: 'Cook', pipelineId: 1 } })).toThrow('Pipeline not found');
});

test('job.updated names what changed, comes only when something did, and never for a status', () => {
  const { state, api, does, events } = openDashboard();
  const { title } = api('GET', '/jobs').jobs[0];
  does('editJob', { jobId: 50_001, fields: { title } });
  does('setJobStatus', { jobId: 50_001, status: 'INACTIVE' });
  expect(events()).not.toHaveProperty('job.updated');
  does('editJob', { jobId: 50_001, fields: { title, city: 'Oslo' } });
  const [told] = readLedger(state, { kind: 'event', name: 'job.updated' });
  expect(told?.detail).toEqual({ jobId: 50_001, updatedFields: ['city'] });
  expect(() => does('editJob', { jobId: 50_001, fields: { status: 'ACTIVE' } })).toThrow('status');
  expect(() => does('editJob', { jobId: 50_001, fields: { colour: 'red' } })).toThrow('colour');
});

test.each<[string, string, object, string]>([
  ['a title of two letters', 'createJob', { job: { title: 'ab' } }, 'title'],
  [
    'a salary without its currency',
    'createJob',
    { job: { title: 'Cook', salaryRangeFrom: 1, salaryRangeTo: 2 } },
    'salary',
  ],
  [
    'a salary without the other end',
    'editJob',
    { jobId: 50_001, fields: { salaryRangeFrom: 9_999_999_999 } },
    'salary',
  ],
  [
    'educations that are text',
    'addCandidate',
    { candidate: { email: 'a@example.com', educations: 'PhD' } },
    'educations',
  ],
  [
    'a birthday in no calendar',
    'addCandidate',
    { candidate: { email: 'a@example.com', dateOfBirth: '1990-02-31' } },
    'dateOfBirth',
  ],
  ['an unknown field', 'addCandidate', { candidate: { email: 'a@example.com', shoeSize: 44 } }, 'shoeSize'],
  ['an e-mail that is none', 'editCandidate', { candidateId: 1, fields: { email: 'nobody' } }, 'email'],
  ['an application with an unknown field', 'apply', { jobId: 50_001, candidate: ada, application: { hat: 1 } }, 'hat'],
  ['a step kind twice', 'createOnboardingFlow', { name: 'Twice', steps: [step, step] }, 'steps'],
])('%s is refused by the dashboard, which names it', (_name, action, input, named) => {
  expect(() => openDashboard().does(action, input)).toThrow(named);
});

test('a second rejection of the same person tells nobody', () => {
  const { does, api, people, events } = openDashboard();
  does('reject', { jobCandidateIds: [people[0]] });
  does('reject', { jobCandidateIds: [people[0]] });
  api('PATCH', `/job-candidates/${people[1]}`, { evaluationStatus: 'REJECTED' });
  api('PATCH', `/job-candidates/${people[1]}`, { evaluationStatus: 'REJECTED' });
  expect(events()['candidate.rejected']).toBe(2);
});

test('an enrolment that ended is not revived while another of the same person is active', () => {
  const { api, does } = openDashboard();
  const { flowId } = api('GET', '/onboarding/flows').data.flows[0];
  const enrol = () =>
    api('POST', `/onboarding/flows/${flowId}/candidates`, { firstName: 'Ada', lastName: 'Byron', ...ada }).data
      .onboardingCandidateId;
  const onboardingCandidateId = enrol();
  api('POST', `/onboarding/candidates/${onboardingCandidateId}/terminate`);
  enrol();
  const revive = () => does('setOnboardingStatus', { onboardingCandidateId, overallStatus: 'in_progress' });
  expect(revive).toThrow('active in the flow');
});

test('a step of a flow has the type of its assessment', () => {
  const { api, does } = openDashboard();
  const { assessmentId } = does('createAssessment', { title: 'Video' });
  const make = (assessmentType: string) =>
    api('POST', '/assessment-flows', { flowName: 'One', steps: [{ assessmentId, assessmentType }] });
  expect(make('AI_AUDIO_INTERVIEW').error.details).toEqual({ 'steps[0].assessmentType': 'must be AI_VIDEO_INTERVIEW' });
  expect(make('AI_VIDEO_INTERVIEW').status).toBe('success');
});

test('a refusal names the field and says what to do, in plain words', () => {
  const { api } = openDashboard();
  const { flowId } = api('GET', '/onboarding/flows').data.flows[0];
  const path = `/onboarding/flows/${flowId}/candidates`;
  const person = { firstName: 'Ada', lastName: 'Byron', ...ada };
  const candidates = [person, { ...person, email: 'nobody' }];
  expect(api('POST', `${path}/bulk`, { candidates }).error).toMatchObject({
    message: 'candidates[1].email must be an e-mail address',
    details: { 'candidates[1].email': 'must be an e-mail address' },
  });
  expect(api('POST', `${path}/bulk`, { candidates: [person, person] }).error).toMatchObject({
    code: 'DUPLICATE_ENROLLMENT',
    details: { 'candidates[1].email': expect.stringContaining('active enrollment') },
  });
  expect(api('POST', '/jobs', { city: 7 }).error.details).toMatchObject({
    title: 'is required',
    city: 'must be a text',
  });
  expect(api('POST', '/jobs', { title: 'ab', city: 'Oslo', state: '', country: 'NO' }).error.message).toBe(
    'title must have at least 3 characters',
  );
  expect(api('POST', path, { ...person, metadata: 'x' }).error.message).toBe('metadata must be an object');
  expect(api('GET', '/pipelines/0').error.message).toBe('pipelineId must be at least 1');
  expect(api('GET', '/users?page=0').errorMessage).toBe('page must be at least 1');
});

/** The field that a refusal names. */
function fieldOf(refused: () => unknown): string[] {
  try {
    refused();
  } catch (error) {
    return Object.keys((error as { details?: object }).details ?? {});
  }
  return ['not refused'];
}

test('a refused act on an interview or an offer names its field', () => {
  const { api, does, people } = openDashboard();
  const { assessmentId } = does('createAssessment', { title: 'Video' });
  api('POST', `/assessment/${assessmentId}/invite`, { jobCandidateId: people[0] });
  const who = { assessmentId, jobCandidateId: people[0] };
  const { submissionId } = does('startInterview', who);
  const { offerId } = does('createOffer', { jobCandidateId: people[0] });
  const fields = [
    () => does('startInterview', who),
    () => does('resumeInterview', { submissionId }),
    () => does('scoreInterview', { submissionId }),
    () => does('takeInterview', who) && does('finishInterview', { submissionId }),
    () => does('signOffer', { offerId, signingOrder: 1 }),
    () => does('completeOffer', { offerId }) && does('cancelOffer', { offerId }),
    () => does('sendOffer', { offerId }),
  ].map(fieldOf);
  expect(fields).toEqual([
    ['submissionId'],
    ['submissionId'],
    ['submissionId'],
    ['submissionId'],
    ['offerId'],
    ['offerId'],
    ['offerId'],
  ]);
});

test('the ledger keeps its last 100,000 entries, and the totals of all', () => {
  const { state } = openDashboard();
  const before = countLedger(state).request?.['jobCandidates.listByJob'] ?? 0;
  state.transaction(() => {
    for (let n = 0; n < LEDGER_ROWS + 5000; n += 1)
      record(state, { kind: 'request', name: 'jobs.list', companyId: 7001, requestId: String(n) });
  });
  expect(readLedger(state, { limit: LEDGER_ROWS * 2 }).length).toBeLessThan(LEDGER_ROWS + 1000);
  expect(readLedger(state, { last: 1 })[0]?.requestId).toBe(String(LEDGER_ROWS + 4999));
  expect(countLedger(state, { kind: 'request', companyId: 7001 })).toEqual({
    request: { 'jobs.list': LEDGER_ROWS + 5000, 'jobCandidates.listByJob': before },
  });
});
