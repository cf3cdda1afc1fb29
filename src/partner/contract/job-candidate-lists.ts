/** Section 4.4: the three listings. Their query names are not shown (K1): tenants may rename them, see overrides.ts. */
import { z } from 'zod';
import { defineEndpoint, type ListShape } from './endpoint.ts';
import { statusPage } from './envelopes.ts';
import { errorsOf, notFound, refusal } from './errors.ts';
import { JobCandidate, StageCandidate } from './job-candidate.ts';
import { stageTypes } from './pipelines.ts';
import { pathInteger, queryBoolean, queryInteger, queryNumber, queryTime } from './shapes.ts';

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

export const jobCandidateLists = {
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
    response: statusPage('data.candidates', 'data.jobCandidates', 'candidates'),
    list: { itemsAt: 'data', item: JobCandidate, idKey: 'id', paging },
    errors: errorsOf(perPageOverMaximum, badQuery, notFound('job')),
    assumed: ['G10', 'G12', 'K1', 'K17'],
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
    response: statusPage('data.candidates', 'candidates'),
    list: { itemsAt: 'data', item: StageCandidate, idKey: 'jobCandidateDetails.id', paging },
    errors: errorsOf(perPageOverMaximum, badQuery),
    assumed: ['G10', 'G12', 'K1', 'K16'],
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
    response: statusPage('data.candidates', 'candidates'),
    list: { itemsAt: 'data', item: StageCandidate, idKey: 'jobCandidateDetails.id', paging },
    errors: errorsOf(
      perPageOverMaximum,
      badQuery,
      notFound('stage'),
      refusal('PERMISSION_DENIED', 'stage of another company'),
    ),
    assumed: ['G10', 'G12', 'K1', 'K16', 'P5'],
  }),
};
