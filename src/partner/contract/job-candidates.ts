import { z } from 'zod';
import { BulkIds, Candidate, ResumeBatch, ResumeUrls } from './candidates.ts';
import { CustomFieldsShown } from './custom-fields.ts';
import {
  Confirmation,
  defineEndpoint,
  errorsOf,
  invalidRequest,
  type ListShape,
  notFound,
  refusal,
  statusData,
  statusList,
  statusPage,
  successData,
  valueAt,
  writeOutcome,
} from './endpoint.ts';
import { stageTypes } from './pipelines.ts';
import {
  AnyObject,
  atLeastOne,
  CandidateId,
  calendarDate,
  Email,
  EpochTime,
  JobCandidateId,
  JobId,
  LooseNumber,
  openEnum,
  pathInteger,
  pathText,
  queryBoolean,
  queryInteger,
  queryNumber,
  queryTime,
  StageId,
  TextId,
} from './shapes.ts';

export const evaluationStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const;

/** No stage among the fields shown (see `jobCandidateStageField` of `Overrides`). */
export const JobCandidate = z
  .looseObject({
    id: JobCandidateId,
    jobId: JobId,
    candidateId: CandidateId,
    profileMatchScore: LooseNumber.nullish(),
    evaluationStatus: openEnum(evaluationStatuses).nullish(),
    criteriaMatches: AnyObject.nullish(),
    recommendToRecruitingFirm: z.boolean().nullish(),
    aiSummary: z.string().nullish(),
    candidate_details: Candidate.nullish(),
    customFields: CustomFieldsShown.nullish(),
  })
  .meta({ id: 'JobCandidate' });
export type JobCandidate = z.infer<typeof JobCandidate>;

/** An item of the listings by stage: three records side by side (K16: the third is not shown). */
export const StageCandidate = z.preprocess(
  withItsIds,
  z
    .looseObject({
      candidate_details: Candidate,
      jobCandidateDetails: JobCandidate,
      onboardingFormDetails: z.unknown().optional(),
    })
    .meta({ id: 'StageCandidate' }),
);
export type StageCandidate = z.infer<typeof StageCandidate>;

/**
 * Beside the candidate, the job candidate's id may be called as events and applications call it, and the candidate's
 * left out.
 */
function withItsIds(item: unknown): unknown {
  const details = valueAt(item, 'jobCandidateDetails');
  if (typeof item !== 'object' || typeof details !== 'object' || details === null) return item;
  const ids = {
    id: valueAt(details, 'jobCandidateId'),
    candidateId: valueAt(item, 'candidate_details.id'),
    jobId: valueAt(item, 'jobId'),
  };
  const missing = Object.entries(ids).filter(([key, id]) => !(key in details) && id !== undefined);
  return { ...item, jobCandidateDetails: { ...details, ...Object.fromEntries(missing) } };
}

/** Answer of the stage move ("updated stage info", K2). */
const StageMove = z
  .looseObject({
    jobCandidateId: JobCandidateId.nullish(),
    jobId: JobId.nullish(),
    stageId: StageId.nullish(),
    status: openEnum(['IN_PROGRESS']).nullish(),
  })
  .meta({ id: 'StageMove' });

const amount = z.union([z.number(), z.string()]).nullish();

const Application = z
  .looseObject({
    jobCandidateId: JobCandidateId,
    jobId: JobId,
    candidateId: CandidateId,
    appliedAt: EpochTime,
    candidate: z
      .looseObject({
        firstName: z.string().nullish(),
        lastName: z.string().nullish(),
        email: Email.nullish(),
        phone: z.string().nullish(),
      })
      .nullish(),
    currentJobTitle: z.string().nullish(),
    company: z.string().nullish(),
    resumeUrl: z.string().nullish(),
    noticePeriod: amount,
    isWillingToRelocate: z.union([z.boolean(), z.string()]).nullish(),
    expectedCTC: amount,
    currencyExpectedCTC: z.string().nullish(),
    expectedCTCPeriod: z.string().nullish(),
    currentCTC: amount,
    currencyCurrentCTC: z.string().nullish(),
    currentCTCPeriod: z.string().nullish(),
    gender: z.string().nullish(),
    dateOfBirth: z.union([z.string(), z.number()]).nullish(),
    nationality: z.string().nullish(),
    screeningQuestionAnswer: z
      .array(z.looseObject({ question: z.string().nullish(), answer: z.unknown().optional() }))
      .nullish(),
    otherFiles: z.array(z.looseObject({ name: z.string().nullish(), url: z.string().nullish() })).nullish(),
    consent: z
      .looseObject({
        acceptedAt: EpochTime.nullish(),
        policyVersion: z.string().nullish(),
        consentDocumentUrl: z.string().nullish(),
        expiresAt: EpochTime.nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'Application' });

const ConsentDocument = z
  .looseObject({
    jobCandidateId: JobCandidateId,
    document: z.looseObject({
      name: z.string().nullish(),
      category: openEnum(['dpa_acknowledgment']).nullish(),
      policyVersion: z.string().nullish(),
      acceptedAt: EpochTime.nullish(),
      pdfUrl: z.string().nullish(),
      expiresAt: EpochTime.nullish(),
    }),
  })
  .meta({ id: 'ConsentDocument' });

const sentAmount = z.union([z.number(), z.string()]).optional();

/** The application fields of section 2.4; which of them may be changed, and their types, are not shown (K10). */
export const JobCandidateUpdate = atLeastOne(
  z.object({
    evaluationStatus: z.string().min(1).optional(),
    noticePeriod: sentAmount,
    isWillingToRelocate: z.boolean().optional(),
    expectedCTC: sentAmount,
    currencyExpectedCTC: z.string().optional(),
    expectedCTCPeriod: z.string().optional(),
    currentCTC: sentAmount,
    currencyCurrentCTC: z.string().optional(),
    currentCTCPeriod: z.string().optional(),
    currentJobTitle: z.string().optional(),
    company: z.string().optional(),
    gender: z.string().optional(),
    dateOfBirth: calendarDate().optional(),
    nationality: z.string().optional(),
  }),
).meta({ id: 'JobCandidateUpdate' });

/** perPage is 1 to 100 by section 4.4 and one of a set by section 8 (G10): we send the set and accept the range. */
const pages = {
  pageNumber: queryInteger({ min: 1 }).default(1),
  perPage: queryInteger({ min: 1, max: 100 }).default(10),
};
const paging = {
  pageParam: 'pageNumber',
  firstPage: 1,
  sizeParam: 'perPage',
  sizes: [10, 20, 40, 80, 100],
  end: { totalAt: 'pagination.total' },
} as const satisfies NonNullable<ListShape['paging']>;
const sort = {
  sortBy: z.enum(['createdAt', 'profileMatchScore']).optional(),
  sortOrder: z.enum(['asc', 'desc']).optional(),
};
const dates = { startDate: queryTime().optional(), endDate: queryTime().optional() };
const perPageOverMaximum = refusal('INVALID_PER_PAGE', 'perPage below 1 or over 100', { field: 'perPage' });
const badQuery = refusal('INVALID_REQUEST', 'a query value missing, of the wrong type or outside its range');

/** Where else than in `data` a listing may stand (G12). */
const listPlaces = ['data.candidates', 'data.jobCandidates', 'candidates', 'jobCandidates'] as const;

const stageList = {
  itemsAt: 'data',
  item: StageCandidate,
  idKey: 'jobCandidateDetails.id',
  idAlso: 'jobCandidateDetails.jobCandidateId',
  paging,
} as const satisfies ListShape;

const jobCandidateLists = {
  listByJob: defineEndpoint({
    id: 'jobCandidates.listByJob',
    method: 'GET',
    path: '/job-candidates/job/:jobId/candidates',
    section: '4.4',
    summary: 'Job candidates of a job',
    params: z.object({ jobId: pathInteger() }),
    query: z.object({
      ...pages,
      minScore: queryNumber(0, 100).optional(),
      maxScore: queryNumber(0, 100).optional(),
      stageId: queryInteger({ min: 1 }).optional(),
      excludeRejected: queryBoolean().optional(),
      ...sort,
    }),
    status: 200,
    envelope: 'status-data',
    response: statusPage(...listPlaces),
    list: { itemsAt: 'data', item: JobCandidate, idKey: 'id', paging },
    errors: errorsOf(perPageOverMaximum, badQuery, notFound('job')),
    assumed: ['G10', 'G12', 'K1', 'K17', 'PAGES'],
  }),
  listByStageType: defineEndpoint({
    id: 'jobCandidates.listByStageType',
    method: 'GET',
    path: '/job-candidates/stage',
    section: '4.4',
    summary: 'Candidates in all stages of a type',
    query: z.object({
      stageType: z.preprocess(
        (value: string) => (typeof value === 'string' ? value.toUpperCase() : value),
        z.enum(stageTypes, { error: 'Stage type is not valid' }),
      ),
      jobId: queryInteger({ min: 1 }).optional(),
      ...dates,
      ...pages,
    }),
    status: 200,
    envelope: 'status-data',
    response: statusPage(...listPlaces),
    list: stageList,
    errors: errorsOf(perPageOverMaximum, badQuery),
    assumed: ['G10', 'G12', 'K1', 'K16', 'PAGES', 'STAGED'],
  }),
  listByStage: defineEndpoint({
    id: 'jobCandidates.listByStage',
    method: 'GET',
    path: '/job-candidates/stage/:stageId/candidates',
    section: '4.4',
    summary: 'Candidates in one stage',
    params: z.object({ stageId: pathInteger() }),
    query: z.object({ jobId: queryInteger({ min: 1 }).optional(), ...dates, ...pages, ...sort }),
    status: 200,
    envelope: 'status-data',
    response: statusPage(...listPlaces),
    list: stageList,
    errors: errorsOf(
      perPageOverMaximum,
      badQuery,
      notFound('stage'),
      refusal('PERMISSION_DENIED', 'stage of another company'),
    ),
    assumed: ['G10', 'G12', 'K1', 'K16', 'P5', 'PAGES', 'STAGED'],
  }),
};

export const rescoreStatuses = ['queued', 'completed', 'failed'] as const;

const RescoreAccepted = z
  .looseObject({
    rescoreId: TextId,
    jobId: JobId.nullish(),
    totalEligible: LooseNumber.nullish(),
    totalQueued: LooseNumber.nullish(),
    message: z.string().nullish(),
    creditsAvailable: LooseNumber.nullish(),
  })
  .meta({ id: 'RescoreAccepted' });

/** Status and summary of a run; the counters carry the names of event job.candidates.rescored (K9). */
const RescoreRun = z.preprocess(
  (data: unknown) => flattenSummary(data),
  z
    .looseObject({
      rescoreId: TextId.nullish(),
      jobId: JobId.nullish(),
      status: openEnum(rescoreStatuses).nullish(),
      totalEligible: LooseNumber.nullish(),
      totalRequested: LooseNumber.nullish(),
      totalProcessed: LooseNumber.nullish(),
      totalFailed: LooseNumber.nullish(),
      cappedByCredits: z.boolean().nullish(),
    })
    .meta({ id: 'RescoreRun' }),
);

/** The counters may stand in `summary`, beside the status. */
function flattenSummary(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('summary' in data)) return data;
  return typeof data.summary === 'object' && data.summary !== null ? { ...data.summary, ...data } : data;
}

/** The run's status may stand in the envelope, in place of `success` (K9). */
function statusIntoData(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('data' in body) || !('status' in body)) return body;
  const { status, data } = body;
  if (typeof data !== 'object' || data === null || !rescoreStatuses.some((known) => known === status)) return body;
  return { ...body, data: { status, ...data } };
}

const rescoreParams = z.object({ rescoreId: pathText() });

const rescoring = {
  rescore: defineEndpoint({
    id: 'jobCandidates.rescore',
    method: 'POST',
    path: '/job-candidates/rescore',
    section: '4.4',
    summary: 'Score candidates of a job again',
    body: z.object({
      jobId: z.int(),
      jobCandidateIds: z.array(z.int()).max(250).optional(),
      stageId: z.int().optional(),
    }),
    status: 202,
    envelope: 'status-data',
    response: statusData(RescoreAccepted),
    errors: errorsOf(
      invalidRequest,
      refusal('PERMISSION_DENIED', 'stage of another company'),
      notFound('job or stage'),
      refusal('INSUFFICIENT_CREDITS', 'no scoring credits left'),
    ),
    costsCredit: true,
    assumed: ['K5', 'K6', 'K7', 'K8'],
  }),
  getRescore: defineEndpoint({
    id: 'jobCandidates.getRescore',
    method: 'GET',
    path: '/job-candidates/rescore/:rescoreId',
    section: '4.4',
    summary: 'Status and summary of a rescore run',
    params: rescoreParams,
    status: 200,
    envelope: 'status-data',
    response: z.preprocess(statusIntoData, statusData(RescoreRun)),
    errors: errorsOf(notFound('rescore run')),
    assumed: ['G6', 'G7', 'K9'],
  }),
  listRescored: defineEndpoint({
    id: 'jobCandidates.listRescored',
    method: 'GET',
    path: '/job-candidates/rescore/:rescoreId/candidates',
    section: '4.4',
    summary: 'Job candidates of a rescore run with their new scores, at most 250',
    params: rescoreParams,
    status: 200,
    envelope: 'status-data',
    response: statusList('data.candidates', 'data.jobCandidates'),
    list: { itemsAt: 'data', item: JobCandidate, idKey: 'id' },
    errors: errorsOf(notFound('rescore run')),
    assumed: ['G6', 'G7'],
  }),
};

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
    assumed: ['K11', 'K13', 'K18', 'CONSENT', 'G24'],
  }),
};
