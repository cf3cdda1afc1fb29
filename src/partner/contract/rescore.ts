/** Section 4.4: rescoring, an asynchronous run that costs credits. */
import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { statusData, statusList } from './envelopes.ts';
import { errorsOf, invalidRequest, notFound, refusal } from './errors.ts';
import { JobId } from './ids.ts';
import { JobCandidate } from './job-candidate.ts';
import { LooseNumber, openEnum, pathText, TextId } from './shapes.ts';

export const rescoreStatuses = ['queued', 'completed', 'failed'] as const;

export const RescoreAccepted = z
  .looseObject({
    rescoreId: TextId,
    jobId: JobId.nullish(),
    totalEligible: LooseNumber.nullish(),
    totalQueued: LooseNumber.nullish(),
    message: z.string().nullish(),
    creditsAvailable: LooseNumber.nullish(),
  })
  .meta({ id: 'RescoreAccepted' });
export type RescoreAccepted = z.infer<typeof RescoreAccepted>;

/** Status and summary of a run; the counters carry the names of event job.candidates.rescored (K9). */
export const RescoreRun = z.preprocess(
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
export type RescoreRun = z.infer<typeof RescoreRun>;

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

const params = z.object({ rescoreId: pathText() });

export const rescoring = {
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
    params,
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
    params,
    status: 200,
    envelope: 'status-data',
    response: statusList('data.candidates', 'data.jobCandidates'),
    list: { itemsAt: 'data', item: JobCandidate, idKey: 'id' },
    errors: errorsOf(notFound('rescore run')),
    assumed: ['G6', 'G7'],
  }),
};
