/** The table of section 7 and the event names of section 6, copied by hand from the text. */
export interface CodeFact {
  code: string;
  status: number;
  /** Only where the table gives it. */
  type?: string;
  /** Endpoints whose condition the table names, without doubt. */
  at: readonly string[];
}

export const codeFacts: readonly CodeFact[] = [
  {
    code: 'INVALID_REQUEST',
    status: 400,
    type: 'validation_error',
    at: [
      'POST /pipelines',
      'POST /pipelines/stages',
      'DELETE /pipelines/stages/:stageId',
      'POST /job-candidates/bulk-fetch',
      'POST /custom-fields',
      'PUT /custom-fields/:customFieldId',
      'POST /assessment/audio-interviews',
      'POST /assessment/auto-generate',
      'POST /candidates/bulk/resume',
      'POST /job-candidates/bulk/resume',
      'POST /campaigns',
    ],
  },
  { code: 'INVALID_PER_PAGE', status: 400, at: ['GET /jobs', 'GET /assessment', 'GET /candidates/list'] },
  { code: 'INVALID_STATUS', status: 400, at: ['GET /jobs'] },
  { code: 'INVALID_PUBLISH_TYPE', status: 400, at: ['GET /jobs'] },
  { code: 'INVALID_WORK_MODE', status: 400, at: ['GET /jobs'] },
  {
    code: 'PIPELINE_NOT_FOUND',
    status: 404,
    type: 'resource_error',
    at: ['GET /pipelines/:pipelineId', 'PUT /pipelines/:pipelineId', 'POST /pipelines/stages'],
  },
  {
    code: 'CUSTOM_FIELD_NOT_FOUND',
    status: 404,
    type: 'resource_error',
    at: [
      'GET /custom-fields/:customFieldId',
      'PUT /custom-fields/:customFieldId',
      'DELETE /custom-fields/:customFieldId',
    ],
  },
  {
    code: 'PERMISSION_DENIED',
    status: 403,
    type: 'authorization_error',
    at: [
      'GET /pipelines/:pipelineId',
      'GET /custom-fields/:customFieldId',
      'PUT /job-candidates/:jobCandidateId/stage',
    ],
  },
  {
    code: 'NOT_FOUND',
    status: 404,
    at: [
      'GET /assessment/:assessmentId',
      'GET /users/:userId',
      'GET /teams/:teamId',
      'POST /onboarding/flows/:flowId/candidates',
      'GET /onboarding/candidates/:onboardingCandidateId',
      'GET /onboarding/candidates/:onboardingCandidateId/documents/:documentId',
      'GET /onboarding/offers/:offerId',
      'PATCH /job-candidates/:jobCandidateId',
      'GET /assessment-flows/:id',
      'GET /candidates/batch/:batchId',
      'GET /job-candidates/stage/:stageId/candidates',
      'GET /campaigns/:campaignId',
      'GET /booking-schedules/:bookingScheduleId',
    ],
  },
  { code: 'ACCESS_DENIED', status: 403, at: ['PUT /assessment/:assessmentId'] },
  {
    code: 'INSUFFICIENT_CREDITS',
    status: 402,
    at: [
      'POST /assessment/audio-interviews',
      'POST /assessment/auto-generate',
      'POST /assessment/:assessmentId/generate-questions',
      'POST /candidates',
      'POST /job-candidates/rescore',
    ],
  },
  {
    code: 'INSUFFICIENT_ONBOARDING_CREDITS',
    status: 402,
    at: ['POST /onboarding/flows/:flowId/candidates', 'POST /onboarding/flows/:flowId/candidates/bulk'],
  },
  { code: 'DUPLICATE_INVITE', status: 400, at: ['POST /assessment/:assessmentId/invite'] },
  {
    code: 'DUPLICATE_ENROLLMENT',
    status: 409,
    at: ['POST /onboarding/flows/:flowId/candidates', 'POST /onboarding/flows/:flowId/candidates/bulk'],
  },
  { code: 'ALREADY_TERMINAL', status: 409, at: ['POST /onboarding/candidates/:onboardingCandidateId/terminate'] },
  {
    code: 'REPORT_NOT_READY',
    status: 409,
    at: ['GET /assessment/:assessmentId/submissions/:submissionId/report'],
  },
  {
    code: 'NO_APPLICATION',
    status: 409,
    at: [
      'GET /job-candidates/:jobCandidateId/application',
      'GET /job-candidates/:jobCandidateId/application/consent-document',
    ],
  },
  {
    code: 'NO_CONSENT_RECORD',
    status: 409,
    at: ['GET /job-candidates/:jobCandidateId/application/consent-document'],
  },
  { code: 'AI_GENERATION_FAILED', status: 500, at: [] },
  { code: 'AI_GENERATION_EMPTY', status: 500, at: [] },
  { code: 'ACCOUNT_INACTIVE', status: 403, at: ['GET /pipelines', 'POST /jobs', 'GET /teams'] },
];

export const eventFacts: readonly string[] = [
  'resume.bulk_upload_parse.started',
  'resume.bulk_upload_parse.completed',
  'resume.bulk_upload_parse.failed',
  'resume.single_parse.completed',
  'resume.single_parse.failed',
  'job.created',
  'job.updated',
  'job.status_changed',
  'candidate.added_to_job',
  'candidate.stage_changed',
  'candidate.hired',
  'candidate.rejected',
  'candidate.removed_from_job',
  'candidate.updated',
  'candidate.applied',
  'job.candidate.score.completed',
  'job.candidate.score.failed',
  'job.candidates.rescored',
  'assessment.ready',
  'interview.started',
  'interview.scoring_completed',
  'interview.ended',
  'assessment.bulk_invite.completed',
  'onboarding.candidate.enrolled',
  'onboarding.candidate.status_changed',
  'onboarding.documents.verified',
  'onboarding.report.ready',
  'onboarding.offer.completed',
  'onboarding.candidate.completed',
];
