/** Sections 2.1, 2.2, 4.1, 4.2. */
import type { Literal } from './literal.ts';

const stage = (id: number, name: string, type: string) => ({
  id,
  name,
  type,
  createdAt: '2026-01-05T08:00:00.000Z',
  updatedAt: '2026-01-05T08:00:00.000Z',
});

const pipeline = {
  id: 7,
  name: 'Hiring',
  createdAt: '2026-01-05T08:00:00.000Z',
  updatedAt: '2026-01-05T08:00:00.000Z',
  stages: [
    stage(71, 'Sourced', 'SOURCED'),
    stage(72, 'Applied', 'APPLIED'),
    stage(73, 'Assessment', 'ASSESSMENT'),
    stage(74, 'Screen', 'SCREEN'),
    stage(75, 'Shortlisted', 'SHORTLISTED'),
    stage(76, 'Hired', 'HIRED'),
  ],
};

const job = {
  id: 301,
  title: 'Nurse',
  description: 'Cares for patients.',
  city: 'Singapore',
  state: '',
  country: 'Singapore',
  pipelineId: 7,
  status: 'ACTIVE',
  workMode: 'ONSITE',
  pipelineStage: [
    { name: 'Applied', type: 'APPLIED', totalCandidate: 4 },
    { name: 'Hired', type: 'HIRED', totalCandidate: 1 },
  ],
  createdAt: 1767600000000,
  runningRevenue: 0,
  rejectedCandidateCount: 2,
  salaryRangeFrom: 3000,
  salaryRangeTo: 4500,
  salaryCurrency: 'USD',
  customFields: { cf_1: { label: 'Department', value: '', parentSection: 'Job Overview' } },
};

export const pipelineAndJobLiterals: readonly Literal[] = [
  {
    id: 'pipelines with their stages',
    operation: 'pipelines.list',
    request: { method: 'GET', path: '/pipelines' },
    response: { status: 200, body: { status: 'success', data: [pipeline] } },
  },
  {
    id: 'one pipeline',
    operation: 'pipelines.get',
    request: { method: 'GET', path: '/pipelines/7' },
    response: { status: 200, body: { status: 'success', data: pipeline } },
  },
  {
    id: 'an unknown pipeline',
    operation: 'pipelines.get',
    request: { method: 'GET', path: '/pipelines/999999' },
    response: {
      status: 404,
      body: { error: { code: 'PIPELINE_NOT_FOUND', type: 'resource_error', message: 'Pipeline not found' } },
    },
  },
  {
    id: "another company's pipeline",
    operation: 'pipelines.get',
    request: { method: 'GET', path: '/pipelines/8' },
    response: {
      status: 403,
      body: { error: { code: 'PERMISSION_DENIED', type: 'authorization_error', message: 'Permission denied' } },
    },
  },
  {
    id: 'a new pipeline answers id and name',
    operation: 'pipelines.create',
    request: { method: 'POST', path: '/pipelines', body: { name: 'Nurses' } },
    response: { status: 200, body: { status: 'success', data: { id: 9, name: 'Nurses' } } },
  },
  {
    id: 'a pipeline name of blanks',
    operation: 'pipelines.create',
    request: { method: 'POST', path: '/pipelines', body: { name: '   ' } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'Pipeline name is required' } },
    },
    badRequest: true,
  },
  {
    id: 'a renamed pipeline',
    operation: 'pipelines.rename',
    request: { method: 'PUT', path: '/pipelines/7', body: { name: 'Hiring 2026' } },
    response: { status: 200, body: { status: 'success', data: { id: 7, name: 'Hiring 2026' } } },
  },
  {
    id: 'a new stage is created',
    operation: 'pipelines.saveStage',
    request: {
      method: 'POST',
      path: '/pipelines/stages',
      body: { pipelineId: 7, name: 'Offer', type: 'OFFER', order: 6 },
    },
    response: { status: 201, body: { status: 'success', data: stage(77, 'Offer', 'OFFER') } },
  },
  {
    id: 'an existing stage is updated',
    operation: 'pipelines.saveStage',
    request: { method: 'POST', path: '/pipelines/stages', body: { pipelineId: 7, stageId: 74, name: 'First call' } },
    response: { status: 200, body: { status: 'success', data: stage(74, 'First call', 'SCREEN') } },
  },
  {
    id: 'a new stage of a system type',
    operation: 'pipelines.saveStage',
    request: { method: 'POST', path: '/pipelines/stages', body: { pipelineId: 7, name: 'Hired 2', type: 'HIRED' } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'Stage type is not valid' } },
    },
    badRequest: true,
  },
  {
    id: 'a deleted stage',
    operation: 'pipelines.deleteStage',
    request: { method: 'DELETE', path: '/pipelines/stages/75', body: { pipelineId: 7, newStageId: 74 } },
    response: { status: 200, body: { status: 'success', message: 'Stage deleted successfully' } },
  },
  {
    id: 'a system stage is not deleted',
    operation: 'pipelines.deleteStage',
    request: { method: 'DELETE', path: '/pipelines/stages/76', body: { pipelineId: 7, newStageId: 74 } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', type: 'validation_error', message: 'Stage cannot be deleted' } },
    },
  },
  {
    id: 'the first page of jobs',
    operation: 'jobs.list',
    request: { method: 'GET', path: '/jobs', query: { pageNumber: '1', perPage: '10', status: 'ACTIVE' } },
    response: { status: 200, body: { jobs: [job], totalJobs: 1 } },
  },
  {
    id: 'a job page of 50',
    operation: 'jobs.list',
    request: { method: 'GET', path: '/jobs', query: { perPage: '50' } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_PER_PAGE', type: 'validation_error', message: 'Invalid perPage' } },
    },
    badRequest: true,
  },
  {
    id: 'a job list of deleted ones',
    operation: 'jobs.list',
    request: { method: 'GET', path: '/jobs', query: { status: 'DELETED' } },
    response: {
      status: 400,
      body: { error: { code: 'INVALID_STATUS', type: 'validation_error', message: 'Invalid status' } },
    },
    badRequest: true,
  },
  {
    id: 'a new job comes back bare',
    operation: 'jobs.create',
    request: {
      method: 'POST',
      path: '/jobs',
      body: {
        title: 'Nurse',
        city: 'Singapore',
        state: '',
        country: 'Singapore',
        status: 'ACTIVE',
        contractType: 'Permanent',
        salaryRangeFrom: 3000,
        salaryRangeTo: 4500,
        salaryCurrency: 'USD',
        screeningQuestion: [{ type: 'text', question: 'When can you start?' }],
      },
    },
    response: { status: 200, body: job },
  },
  {
    id: 'a job title of two characters',
    operation: 'jobs.create',
    request: {
      method: 'POST',
      path: '/jobs',
      body: { title: 'RN', city: 'Singapore', state: '', country: 'Singapore' },
    },
    response: {
      status: 400,
      body: {
        error: {
          code: 'INVALID_REQUEST',
          type: 'validation_error',
          message: 'Invalid request',
          details: { title: 'Title must be 3 to 120 characters' },
        },
      },
    },
    badRequest: true,
  },
];
