/**
 * The tables of section 4, the families of section 1 and the status codes of section 7, copied by hand from the text.
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Family = 'bare' | 'status-data' | 'success-data' | 'campaign';

export interface EndpointFact {
  section: string;
  method: Method;
  path: string;
  /** Success statuses; 200 unless the list of section 7 says otherwise. */
  statuses: readonly number[];
  /** Family of section 1 rule 4; undefined where no family is named (company sites). */
  family: Family | undefined;
}

const created = [201];
const accepted = [202];
const ok = [200];

function rows(section: string, family: Family | undefined, lines: readonly string[]): EndpointFact[] {
  return lines.map((line) => {
    const [method, path] = line.split(' ');
    return {
      section,
      method: method as Method,
      path: path ?? '',
      statuses: statusesOf(line),
      family: familyOf(line, family),
    };
  });
}

/** "201 (stage create, assessment create, auto-generate, onboarding enroll), 202 (rescore, bulk invite)". */
const otherStatuses: Record<string, readonly number[]> = {
  'POST /pipelines/stages': [201, 200],
  'POST /assessment/audio-interviews': created,
  'POST /assessment/auto-generate': created,
  'POST /onboarding/flows/:flowId/candidates': created,
  'POST /onboarding/flows/:flowId/candidates/bulk': created,
  'POST /job-candidates/rescore': accepted,
  'POST /assessment/:assessmentId/invite/bulk': accepted,
};

function statusesOf(line: string): readonly number[] {
  return otherStatuses[line] ?? ok;
}

/** "Bulk resume upload and batch retrieval: { success: true, data: ... }". */
const bulkResume = [
  'POST /candidates/bulk/resume',
  'GET /candidates/batch/:batchId',
  'POST /job-candidates/bulk/resume',
];

function familyOf(line: string, family: Family | undefined): Family | undefined {
  if (line === 'GET /company-sites') return undefined;
  return bulkResume.includes(line) ? 'success-data' : family;
}

export const endpointFacts: readonly EndpointFact[] = [
  ...rows('4.1', 'status-data', [
    'GET /pipelines',
    'GET /pipelines/:pipelineId',
    'POST /pipelines',
    'PUT /pipelines/:pipelineId',
    'POST /pipelines/stages',
    'DELETE /pipelines/stages/:stageId',
  ]),
  ...rows('4.2', 'bare', ['GET /jobs', 'POST /jobs']),
  ...rows('4.3', 'status-data', [
    'POST /candidates',
    'GET /candidates/list',
    'GET /candidates/:candidateId',
    'PATCH /candidates/:candidateId',
    'POST /candidates/bulk/resume',
    'GET /candidates/batch/:batchId',
    'POST /candidates/bulk-fetch',
  ]),
  ...rows('4.4', 'status-data', [
    'POST /job-candidates/bulk-fetch',
    'POST /job-candidates/rescore',
    'GET /job-candidates/rescore/:rescoreId',
    'GET /job-candidates/rescore/:rescoreId/candidates',
    'POST /job-candidates/bulk/resume',
    'GET /job-candidates/job/:jobId/candidates',
    'GET /job-candidates/stage',
    'GET /job-candidates/stage/:stageId/candidates',
    'PATCH /job-candidates/:jobCandidateId',
    'DELETE /job-candidates/:jobCandidateId',
    'PUT /job-candidates/:jobCandidateId/stage',
    'GET /job-candidates/:jobCandidateId/application',
    'GET /job-candidates/:jobCandidateId/application/consent-document',
  ]),
  ...rows('4.5', 'status-data', [
    'GET /custom-fields',
    'GET /custom-fields/:customFieldId',
    'POST /custom-fields',
    'PUT /custom-fields/:customFieldId',
    'DELETE /custom-fields/:customFieldId',
    'GET /custom-field-values',
    'GET /custom-field-values/:valueId',
    'POST /custom-field-values',
    'POST /custom-field-values/bulk',
    'DELETE /custom-field-values/:valueId',
    'DELETE /custom-field-values/entity/:entityType/:entityId',
  ]),
  ...rows('4.6', 'status-data', [
    'GET /assessment',
    'POST /assessment/audio-interviews',
    'GET /assessment/:assessmentId',
    'PUT /assessment/:assessmentId',
    'POST /assessment/:assessmentId/questions',
    'PUT /assessment/:assessmentId/questions/:questionId',
    'DELETE /assessment/:assessmentId/questions/:questionId',
    'POST /assessment/auto-generate',
    'POST /assessment/:assessmentId/generate-questions',
    'POST /assessment/:assessmentId/invite',
    'POST /assessment/:assessmentId/invite/bulk',
    'GET /assessment/:assessmentId/invite/bulk/:batchId',
    'GET /assessment/:assessmentId/candidates',
    'GET /assessment/:assessmentId/submissions/:submissionId/report',
    'GET /assessment/:assessmentId/submissions/:submissionId/share-link',
  ]),
  ...rows('4.7', 'status-data', [
    'GET /assessment-flows',
    'POST /assessment-flows',
    'PATCH /assessment-flows/:id',
    'GET /assessment-flows/:id',
    'GET /assessment-flows/:id/candidates',
    'POST /assessment-flows/:id/assign',
  ]),
  ...rows('4.8', 'status-data', [
    'GET /booking-schedules',
    'GET /booking-schedules/:bookingScheduleId',
    'GET /booking-schedules/:bookingScheduleId/slots',
    'GET /booking-schedules/:bookingScheduleId/locations',
    'GET /booking-schedules/:bookingScheduleId/questions',
    'POST /booking-schedules/:bookingScheduleId/links',
    'POST /booking-schedules/:bookingScheduleId/bookings',
    'GET /bookings',
  ]),
  ...rows('4.9', 'status-data', [
    'GET /onboarding/flows',
    'POST /onboarding/flows/:flowId/candidates',
    'POST /onboarding/flows/:flowId/candidates/bulk',
    'GET /onboarding/candidates/:onboardingCandidateId',
    'GET /onboarding/candidates',
    'GET /onboarding/candidates/:onboardingCandidateId/documents',
    'GET /onboarding/candidates/:onboardingCandidateId/documents/:documentId',
    'PATCH /onboarding/candidates/:onboardingCandidateId/external-status',
    'POST /onboarding/candidates/:onboardingCandidateId/terminate',
    'GET /onboarding/offers',
    'GET /onboarding/offers/:offerId',
  ]),
  ...rows('4.10', 'campaign', [
    'GET /company-sites',
    'GET /campaigns',
    'GET /campaigns/:campaignId',
    'POST /campaigns',
    'POST /campaigns/:campaignId/leads',
    'GET /campaigns/:campaignId/leads',
  ]),
  ...rows('4.11', 'status-data', ['GET /users', 'GET /users/:userId', 'GET /teams', 'GET /teams/:teamId']),
];

/** How the lists of which the spec says so are paged. */
export interface PageFact {
  endpoint: string;
  pageParam: string;
  firstPage: 0 | 1;
  sizeParam: string;
  defaultSize: number;
  /** Where the answer's total or flag stands, when the spec shows it. */
  end?: string;
  quote: string;
}

export const pageFacts: readonly PageFact[] = [
  {
    endpoint: 'GET /jobs',
    pageParam: 'pageNumber',
    firstPage: 1,
    sizeParam: 'perPage',
    defaultSize: 10,
    end: 'totalJobs',
    quote: 'query: pageNumber (integer, default 1), perPage (10, 20, 40, 80, 100; default 10), jobTitle',
  },
  {
    endpoint: 'GET /candidates/list',
    pageParam: 'pageNumber',
    firstPage: 0,
    sizeParam: 'perPage',
    defaultSize: 10,
    quote: 'pageNumber (0-indexed), perPage (10, 20, 40, 80, 100)',
  },
  {
    endpoint: 'GET /assessment',
    pageParam: 'pageNumber',
    firstPage: 1,
    sizeParam: 'perPage',
    defaultSize: 10,
    end: 'data.pagination.total',
    quote: '{ status, data: {assessments, pagination {page, limit, total, totalPages}} }',
  },
  {
    endpoint: 'GET /assessment-flows/:id/candidates',
    pageParam: 'page',
    firstPage: 1,
    sizeParam: 'perPage',
    defaultSize: 10,
    end: 'pagination.total',
    quote: 'page (default 1), pageSize or perPage (default 10, max 100), search, status',
  },
  {
    endpoint: 'GET /onboarding/flows',
    pageParam: 'page',
    firstPage: 1,
    sizeParam: 'limit',
    defaultSize: 20,
    end: 'data.pagination.total',
    quote: '{ status, data: {flows, pagination {page, limit, total, totalPages}} }',
  },
  {
    endpoint: 'GET /campaigns',
    pageParam: 'page',
    firstPage: 1,
    sizeParam: 'limit',
    defaultSize: 20,
    end: 'pagination.total',
    quote: '{ campaigns, pagination {page, limit, total, totalPages} }',
  },
  {
    endpoint: 'GET /users',
    pageParam: 'page',
    firstPage: 1,
    sizeParam: 'perPage',
    defaultSize: 20,
    end: 'pagination.total',
    quote: '{ status, data: [user], pagination {page, perPage, total} }',
  },
];
