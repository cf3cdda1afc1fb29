/** Section 8: pages and counts, each as what must be taken and what must be refused. Fields are in field-limits.ts. */
import { fieldLimitFacts } from './field-limits.ts';
import type { LimitFact } from './limit-fact.ts';

const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const text = (length: number) => 'x'.repeat(length);
const urls = (count: number) => ids(count).map((id) => `https://files.example.org/${id}.pdf`);
const enrolment = (index = 0) => ({ firstName: 'Ada', lastName: 'Example', email: `ada${index}@example.org` });
const invitee = (index = 0) => ({ firstName: 'Ada', lastName: 'Example', emailAddress: `ada${index}@example.org` });
const pageSet = ['10', '20', '40', '80', '100'].map((perPage) => ({ perPage }));
const notInSet = ['0', '5', '25', '101', 'ten'].map((perPage) => ({ perPage }));
const oneToHundred = (key: string, more = {}) => ({
  accepts: [{ ...more, [key]: '1' }, { ...more, [key]: '100' }, more],
  refuses: [
    { ...more, [key]: '0' },
    { ...more, [key]: '101' },
  ],
});

export const limitFacts: readonly LimitFact[] = [
  ...['GET /jobs', 'GET /assessment', 'GET /candidates/list', 'GET /candidates/batch/:batchId'].map(
    (endpoint): LimitFact => ({
      what: 'perPage options',
      endpoint,
      part: 'query',
      accepts: pageSet,
      refuses: notInSet,
      quote: '10, 20, 40, 80, 100 | jobs list, assessments list, candidates list, batch candidates, stage candidates',
    }),
  ),
  {
    what: 'stage candidates perPage',
    endpoint: 'GET /job-candidates/stage',
    part: 'query',
    ...oneToHundred('perPage', { stageType: 'hired' }),
    quote: 'stage type (case-insensitive, required), jobId, date range, perPage max 100',
  },
  {
    what: 'users perPage',
    endpoint: 'GET /users',
    part: 'query',
    ...oneToHundred('perPage'),
    quote: 'default 20, max 100 | GET /users',
  },
  {
    what: 'onboarding flows limit',
    endpoint: 'GET /onboarding/flows',
    part: 'query',
    ...oneToHundred('limit'),
    quote: 'default 20, max 100 | GET /onboarding/flows',
  },
  {
    what: 'campaigns limit',
    endpoint: 'GET /campaigns',
    part: 'query',
    ...oneToHundred('limit'),
    quote: 'default 20, max 100 | GET /campaigns',
  },
  {
    what: 'flow candidates page size',
    endpoint: 'GET /assessment-flows/:id/candidates',
    part: 'query',
    ...oneToHundred('pageSize'),
    quote: 'default 10, max 100 | assessment flow candidates',
  },
  {
    what: 'candidates list page index',
    endpoint: 'GET /candidates/list',
    part: 'query',
    accepts: [{ pageNumber: '0' }, { pageNumber: '1' }],
    refuses: [{ pageNumber: '-1' }, { pageNumber: 'first' }],
    quote: 'Candidates list page index | 0-based',
  },
  {
    what: 'date range of the candidates list',
    endpoint: 'GET /candidates/list',
    part: 'query',
    accepts: [{ createdAtMin: '2026-01-01T00:00:00Z', createdAtMax: '2026-02-01T00:00:00Z' }],
    refuses: [{ createdAtMin: '2026-02-01T00:00:00Z', createdAtMax: '2026-01-01T00:00:00Z' }],
    quote: 'ISO 8601, min not after max',
  },
  {
    what: 'resume URLs per request',
    endpoint: 'POST /candidates/bulk/resume',
    part: 'body',
    accepts: [{ resumeURLs: urls(1) }, { resumeURLs: urls(5000) }],
    refuses: [{}, { resumeURLs: [] }, { resumeURLs: urls(5001) }, { resumeURLs: 'one' }, { resumeURLs: ['no url'] }],
    quote: 'bulk resume upload with missing, non-array, empty, over-5000 or invalid URL list',
  },
  {
    what: 'resume URLs per request of a job',
    endpoint: 'POST /job-candidates/bulk/resume',
    part: 'body',
    accepts: [{ jobId: 1, resumeURLs: urls(5000) }],
    refuses: [{ resumeURLs: urls(1) }, { jobId: 1, resumeURLs: urls(5001) }],
    quote: '{ jobId: integer required, resumeURLs: array of non-empty public URL strings, max 5000 }',
  },
  {
    what: 'bulk fetch ids of candidates',
    endpoint: 'POST /candidates/bulk-fetch',
    part: 'body',
    accepts: [{ candidateIds: [1] }, { candidateIds: ['1', 2] }, { candidateIds: ids(100) }],
    refuses: [{}, { candidateIds: [] }, { candidateIds: ids(101) }],
    quote: '{ candidateIds: array of strings/numbers, 1 to 100 }',
  },
  {
    what: 'bulk fetch ids of job candidates',
    endpoint: 'POST /job-candidates/bulk-fetch',
    part: 'body',
    accepts: [{ jobCandidateIds: [1] }, { jobCandidateIds: ids(100) }],
    refuses: [{}, { jobCandidateIds: [] }, { jobCandidateIds: ids(101) }],
    quote: 'jobCandidateIds missing, empty or over 100',
  },
  {
    what: 'rescore',
    endpoint: 'POST /job-candidates/rescore',
    part: 'body',
    accepts: [{ jobId: 1 }, { jobId: 1, jobCandidateIds: ids(250), stageId: 2 }],
    refuses: [{}, { jobId: 1, jobCandidateIds: ids(251) }, { jobId: 1, jobCandidateIds: ['a'] }],
    quote: '250 candidates per request | job-candidates/rescore and its candidates view',
  },
  {
    what: 'bulk assessment invites',
    endpoint: 'POST /assessment/:assessmentId/invite/bulk',
    part: 'body',
    accepts: [{ candidates: [{ jobCandidateId: 1 }] }, { candidates: ids(5000).map(invitee) }],
    refuses: [{ candidates: [] }, { candidates: ids(5001).map(invitee) }, { candidates: [{ firstName: 'Ada' }] }],
    quote: 'Bulk assessment invites | 5,000 | invite/bulk',
  },
  {
    what: 'externalRef of an invite',
    endpoint: 'POST /assessment/:assessmentId/invite/bulk',
    part: 'body',
    accepts: [{ candidates: [{ ...invitee(), externalRef: text(255) }] }],
    refuses: [{ candidates: [{ ...invitee(), externalRef: text(256) }] }],
    quote: '255 characters | onboarding and assessment invite',
  },
  {
    what: 'bulk onboarding enrollment',
    endpoint: 'POST /onboarding/flows/:flowId/candidates/bulk',
    part: 'body',
    accepts: [{ candidates: [enrolment()] }, { candidates: ids(100).map(enrolment) }],
    refuses: [{ candidates: [] }, { candidates: ids(101).map(enrolment) }],
    quote: 'Bulk onboarding enrollment | 100 | candidates/bulk',
  },
  {
    what: 'externalRef of an enrollment',
    endpoint: 'POST /onboarding/flows/:flowId/candidates',
    part: 'body',
    accepts: [
      enrolment(),
      { ...enrolment(), externalRef: text(255), phoneNumber: '+639170000001', metadata: { a: 1 } },
    ],
    refuses: [
      { ...enrolment(), externalRef: text(256) },
      { ...enrolment(), phoneNumber: '0917 000' },
      { firstName: 'A' },
    ],
    quote: 'phoneNumber (E.164), externalRef (max 255), metadata (object)',
  },
  ...fieldLimitFacts,
];
