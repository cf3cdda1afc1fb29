import { expect, test } from 'vitest';
import { type Json, openSandbox } from './open-sandbox.ts';

const OTHER_KEY = 'sk_test_OtherCompany0123456789';

type ForeignCall = [status: number, method: string, path: string, body?: unknown];

/** Two companies, and a record of each kind in the first. */
async function openTwo() {
  const sandbox = await openSandbox({ otherKey: OTHER_KEY, jobs: 2, candidates: 6 });
  const other = (method: string, path: string, body?: unknown) => sandbox.api(method, path, body, { key: OTHER_KEY });
  const { control, companyId } = sandbox;
  const job = (await sandbox.api('GET', '/jobs')).body.jobs[0];
  const listed = (await sandbox.api('GET', `/job-candidates/job/${job.id}/candidates`)).body.data[0];
  const stages = (await sandbox.api('GET', `/pipelines/${job.pipelineId}`)).body.data.stages;
  const field = await control.act('createCustomField', {
    companyId,
    entityType: 'candidate',
    fieldLabel: 'Start date',
    fieldType: 'date',
  });
  const value = await control.act('setCustomFieldValue', {
    companyId,
    customFieldId: field.id,
    entityType: 'candidate',
    entityId: listed.candidateId,
    value: '2026-03-01',
  });
  const { flows } = await control.act('listOnboardingFlows', { companyId });
  const flowId = String(flows[0]?.['flowId']);
  const enrolled = await control.act('enrol', {
    companyId,
    flowId,
    firstName: 'Ada',
    lastName: 'L',
    email: 'ada@example.com',
  });
  const ids = {
    jobId: job.id,
    pipelineId: job.pipelineId,
    jobCandidateId: listed.id,
    candidateId: listed.candidateId,
    fieldId: field.id,
    valueId: String(value['id']),
    flowId,
    enrolmentId: String(enrolled?.['onboardingCandidateId']),
  };
  return { ...sandbox, other, stages, ids };
}

/** Every call on a record of another company. */
function foreignCalls({ ids, stages }: Awaited<ReturnType<typeof openTwo>>, theirs: Json): ForeignCall[] {
  const { jobId, pipelineId, jobCandidateId, candidateId, fieldId, valueId, flowId, enrolmentId } = ids;
  return [
    [403, 'GET', `/pipelines/${pipelineId}`],
    [403, 'PUT', `/pipelines/${pipelineId}`, { name: 'Mine' }],
    [403, 'POST', '/pipelines/stages', { pipelineId: pipelineId, name: 'X', type: 'SCREEN' }],
    [403, 'DELETE', `/pipelines/stages/${stages[3].id}`, { pipelineId: theirs.id, newStageId: theirs.stages[1].id }],
    [403, 'GET', `/job-candidates/stage/${stages[0].id}/candidates`],
    [403, 'GET', `/custom-fields/${fieldId}`],
    [403, 'PUT', `/custom-fields/${fieldId}`, { fieldLabel: 'Mine' }],
    [403, 'DELETE', `/custom-fields/${fieldId}`],
    [
      403,
      'POST',
      '/custom-field-values',
      { customFieldId: fieldId, entityType: 'candidate', entityId: 1, value: '2026-01-01' },
    ],
    [404, 'GET', `/candidates/${candidateId}`],
    [404, 'PATCH', `/candidates/${candidateId}`, { city: 'Oslo' }],
    [404, 'GET', `/job-candidates/job/${jobId}/candidates`],
    [404, 'PATCH', `/job-candidates/${jobCandidateId}`, { evaluationStatus: 'APPROVED' }],
    [404, 'PUT', `/job-candidates/${jobCandidateId}/stage`, { stageId: theirs.stages[0].id }],
    [404, 'DELETE', `/job-candidates/${jobCandidateId}`],
    [404, 'GET', `/custom-field-values/${valueId}`],
    [404, 'DELETE', `/custom-field-values/${valueId}`],
    [404, 'DELETE', `/custom-field-values/entity/candidate/${candidateId}`],
    [404, 'POST', `/onboarding/flows/${flowId}/candidates`, { firstName: 'A', lastName: 'B', email: 'a@example.com' }],
    [404, 'GET', `/onboarding/candidates/${enrolmentId}`],
    [404, 'PATCH', `/onboarding/candidates/${enrolmentId}/external-status`, { status: 'x' }],
    [404, 'POST', `/onboarding/candidates/${enrolmentId}/terminate`],
  ];
}

test('each of two companies lists only its own', async () => {
  await using sandbox = await openTwo();
  const { other, ids } = sandbox;
  const { candidateId, jobCandidateId } = ids;
  expect((await other('GET', '/jobs')).body).toEqual({ jobs: [], totalJobs: 0 });
  expect((await other('GET', '/candidates/list')).body.data).toEqual([]);
  expect((await other('GET', '/job-candidates/stage?stageType=SOURCED')).body.data).toEqual([]);
  expect((await other('GET', '/custom-fields')).body.data).toEqual([]);
  expect((await other('GET', '/onboarding/candidates')).body.data.candidates).toEqual([]);
  expect((await other('POST', '/candidates/bulk-fetch', { candidateIds: [candidateId] })).body.data).toEqual([]);
  expect((await other('POST', '/job-candidates/bulk-fetch', { jobCandidateIds: [jobCandidateId] })).body.data).toEqual(
    [],
  );
});

test('another company’s record is 403 or 404 as the contract says, and nothing is done to it', async () => {
  await using sandbox = await openTwo();
  const { other, control } = sandbox;
  const theirs = (await other('GET', '/pipelines')).body.data[0];
  for (const [status, method, path, body] of foreignCalls(sandbox, theirs)) {
    expect(`${method} ${path} ${(await other(method, path, body)).status}`).toBe(`${method} ${path} ${status}`);
  }
  expect(await control.counts({ companyId: sandbox.otherCompanyId, kind: 'effect' })).toEqual({});
});
