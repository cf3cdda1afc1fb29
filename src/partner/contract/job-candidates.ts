/** Section 4.4: job candidates. Listings and rescoring stand in files of their own. */
import { z } from 'zod';
import { BulkIds, ResumeBatch, ResumeUrls } from './candidates.ts';
import { defineEndpoint } from './endpoint.ts';
import { Confirmation, statusData, statusList, successData, writeOutcome } from './envelopes.ts';
import { errorsOf, invalidRequest, notFound, refusal } from './errors.ts';
import { Application, ConsentDocument, JobCandidate, JobCandidateUpdate, StageMove } from './job-candidate.ts';
import { jobCandidateLists } from './job-candidate-lists.ts';
import { rescoring } from './rescore.ts';
import { pathInteger } from './shapes.ts';

const params = z.object({ jobCandidateId: pathInteger() });
const noApplication = refusal('NO_APPLICATION', 'did not apply through the hosted page');

export const jobCandidates = {
  bulkFetch: defineEndpoint({
    id: 'jobCandidates.bulkFetch',
    method: 'POST',
    path: '/job-candidates/bulk-fetch',
    section: '4.4',
    summary: 'Fetch 1 to 100 job candidates by id',
    body: z.object({ jobCandidateIds: BulkIds }),
    status: 200,
    envelope: 'status-data',
    response: statusList('data.jobCandidates', 'jobCandidates'),
    list: { itemsAt: 'data', item: JobCandidate, idKey: 'id' },
    errors: errorsOf(refusal('INVALID_REQUEST', 'jobCandidateIds missing, empty or over 100')),
    chunk: { key: 'jobCandidateIds', max: 100 },
    assumed: ['C18', 'K12', 'K14', 'K15', 'K20'],
  }),
  ...rescoring,
  uploadResumes: defineEndpoint({
    id: 'jobCandidates.uploadResumes',
    method: 'POST',
    path: '/job-candidates/bulk/resume',
    section: '4.4',
    summary: 'Parse many resumes in the background and add the candidates to a job',
    body: z.object({ jobId: z.int(), resumeURLs: ResumeUrls }),
    status: 200,
    envelope: 'success-data',
    response: successData(ResumeBatch),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'jobId missing; URL list missing, no array, empty, over 5,000 or with an invalid URL'),
      notFound('job'),
    ),
    costsCredit: true,
    assumed: ['G1', 'C17', 'RESUMES'],
  }),
  ...jobCandidateLists,
  update: defineEndpoint({
    id: 'jobCandidates.update',
    method: 'PATCH',
    path: '/job-candidates/:jobCandidateId',
    section: '4.4',
    summary: 'Update application fields',
    params,
    body: JobCandidateUpdate,
    status: 200,
    envelope: 'status-data',
    response: writeOutcome(JobCandidate),
    errors: errorsOf(invalidRequest, notFound('job candidate')),
    assumed: ['K10', 'E5'],
  }),
  remove: defineEndpoint({
    id: 'jobCandidates.remove',
    method: 'DELETE',
    path: '/job-candidates/:jobCandidateId',
    section: '4.4',
    summary: 'Remove a candidate from a job; the profile stays',
    params,
    status: 200,
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(invalidRequest, notFound('job candidate')),
    assumed: ['K12'],
  }),
  move: defineEndpoint({
    id: 'jobCandidates.move',
    method: 'PUT',
    path: '/job-candidates/:jobCandidateId/stage',
    section: '4.4',
    summary: 'Move a job candidate to a stage',
    params,
    body: z.object({ stageId: z.int() }),
    status: 200,
    envelope: 'status-data',
    response: writeOutcome(StageMove),
    errors: errorsOf(
      invalidRequest,
      refusal('PERMISSION_DENIED', 'stage of another company'),
      notFound('job candidate or stage'),
    ),
    assumed: ['G6', 'K2', 'K3', 'K4', 'K19', 'P5', 'E4'],
  }),
  getApplication: defineEndpoint({
    id: 'jobCandidates.getApplication',
    method: 'GET',
    path: '/job-candidates/:jobCandidateId/application',
    section: '4.4',
    summary: 'Application record from the hosted page',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusData(Application),
    errors: errorsOf(invalidRequest, notFound('job candidate'), noApplication),
    assumed: ['K13', 'G24'],
  }),
  getConsentDocument: defineEndpoint({
    id: 'jobCandidates.getConsentDocument',
    method: 'GET',
    path: '/job-candidates/:jobCandidateId/application/consent-document',
    section: '4.4',
    summary: 'Privacy-consent document of an application',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusData(ConsentDocument),
    errors: errorsOf(
      invalidRequest,
      notFound('job candidate'),
      noApplication,
      refusal('NO_CONSENT_RECORD', 'no consent record'),
    ),
    assumed: ['K11', 'K13', 'K18', 'G24'],
  }),
};
