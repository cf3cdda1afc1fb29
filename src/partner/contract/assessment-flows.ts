/** Sections 2.7, 4.7: multi-step assessment flows. */
import { z } from 'zod';
import {
  defineEndpoint,
  errorsOf,
  invalidRequest,
  notFound,
  refusal,
  statusData,
  statusList,
  statusPage,
} from './endpoint.ts';
import {
  atLeastOne,
  emailToSend,
  IntegerId,
  LooseNumber,
  openEnum,
  pathInteger,
  queryInteger,
  TextId,
  withId,
} from './shapes.ts';

const flowCandidateStatuses = ['NOT_STARTED', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const;
const flowStatuses = ['ACTIVE', 'INACTIVE', 'DELETED'] as const;

const AssessmentFlow = z
  .looseObject({
    id: IntegerId,
    companyId: TextId.nullish(),
    flowName: z.string().nullish(),
    description: z.string().nullish(),
    status: openEnum(flowStatuses).nullish(),
    candidateCount: LooseNumber.nullish(),
    steps: z
      .array(
        z.looseObject({
          assessmentId: TextId,
          passThreshold: LooseNumber.nullish(),
          assessmentType: z.string().nullish(),
          type: z.string().nullish(),
          name: z.string().nullish(),
          instructions: z.string().nullish(),
          passAction: z.unknown().optional(),
          assessmentName: z.string().nullish(),
          assessmentDuration: LooseNumber.nullish(),
        }),
      )
      .nullish(),
  })
  .meta({ id: 'AssessmentFlow' });

/** An entry of the flow's candidates; its fields are not shown, so the id may be called `id` (L5). */
const FlowCandidate = z.preprocess(
  (entry: unknown) => withId(entry, 'flowCandidateId', ['id']),
  z
    .looseObject({ flowCandidateId: TextId, status: openEnum(flowCandidateStatuses).nullish() })
    .meta({ id: 'FlowCandidate' }),
);

/** Null is as good as nothing: a flow's answer may be sent back as it came. */
const FlowStepInput = z
  .object({
    assessmentId: z.string().min(1),
    passThreshold: z.number().min(0).max(100).nullish(),
    assessmentType: z.string().nullish(),
    type: z.string().nullish(),
    name: z.string().nullish(),
    instructions: z.string().nullish(),
    passAction: z.unknown().optional(),
  })
  .meta({ id: 'FlowStepInput' });

const steps = z.array(FlowStepInput).min(1);
const flowName = z.string().trim().min(1);
const params = z.object({ id: pathInteger() });
const unknownFlow = notFound('assessment flow');

export const assessmentFlows = {
  list: defineEndpoint({
    id: 'assessmentFlows.list',
    method: 'GET',
    path: '/assessment-flows',
    section: '4.7',
    summary: 'List flows that are not deleted',
    status: 200,
    envelope: 'status-data',
    response: statusList('data.flows'),
    list: { itemsAt: 'data', item: AssessmentFlow, idKey: 'id' },
    errors: errorsOf(),
    assumed: ['L3'],
  }),
  create: defineEndpoint({
    id: 'assessmentFlows.create',
    method: 'POST',
    path: '/assessment-flows',
    section: '4.7',
    summary: 'Create a flow',
    body: z.object({ flowName, description: z.string().nullish(), steps }),
    status: 200,
    envelope: 'status-data',
    response: statusData(AssessmentFlow),
    errors: errorsOf(invalidRequest, notFound('assessment')),
    assumed: ['G1', 'L4', 'L8'],
  }),
  update: defineEndpoint({
    id: 'assessmentFlows.update',
    method: 'PATCH',
    path: '/assessment-flows/:id',
    section: '4.7',
    summary: 'Change thresholds, append steps, rename',
    params,
    body: atLeastOne(
      z.object({
        flowName: flowName.optional(),
        description: z.string().nullish(),
        status: z.enum(flowStatuses).optional(),
        steps: steps.optional(),
      }),
    ),
    status: 200,
    envelope: 'status-data',
    response: statusData(AssessmentFlow),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'no field, an existing step changed or removed, threshold outside 0 to 100'),
      notFound('assessment flow or assessment'),
    ),
    assumed: ['L2', 'L3', 'L4', 'L8'],
  }),
  get: defineEndpoint({
    id: 'assessmentFlows.get',
    method: 'GET',
    path: '/assessment-flows/:id',
    section: '4.7',
    summary: 'Get a flow with its steps',
    params,
    status: 200,
    envelope: 'status-data',
    response: statusData(AssessmentFlow),
    errors: errorsOf(invalidRequest, unknownFlow),
    assumed: ['G8', 'L8'],
  }),
  listCandidates: defineEndpoint({
    id: 'assessmentFlows.listCandidates',
    method: 'GET',
    path: '/assessment-flows/:id/candidates',
    section: '4.7',
    summary: 'Candidates of a flow',
    params,
    query: z.object({
      page: queryInteger({ min: 1 }).default(1),
      pageSize: queryInteger({ min: 1, max: 100 }).optional(),
      perPage: queryInteger({ min: 1, max: 100 }).default(10),
      search: z.string().optional(),
      status: z.enum(flowCandidateStatuses).optional(),
    }),
    status: 200,
    envelope: 'status-data',
    response: statusPage('data.candidates'),
    list: {
      itemsAt: 'data',
      item: FlowCandidate,
      idKey: 'flowCandidateId',
      idAlso: 'id',
      paging: {
        pageParam: 'page',
        firstPage: 1,
        sizeParam: 'perPage',
        sizes: { max: 100 },
        end: { totalAt: 'pagination.total' },
      },
    },
    errors: errorsOf(refusal('INVALID_REQUEST', 'page, size or status outside its values'), unknownFlow),
    assumed: ['G9', 'L5', 'L6'],
  }),
  assign: defineEndpoint({
    id: 'assessmentFlows.assign',
    method: 'POST',
    path: '/assessment-flows/:id/assign',
    section: '4.7',
    summary: 'Assign a candidate; sends the first invite',
    params,
    body: z
      .object({
        email: emailToSend().optional(),
        firstName: z.string().optional(),
        lastName: z.string().optional(),
        jobCandidateId: z.int().min(1).optional(),
        jobId: z.int().min(1).optional(),
        talentId: z.union([z.int(), z.string()]).optional(),
      })
      .refine((body) => body.email !== undefined || body.jobCandidateId !== undefined, {
        path: ['email'],
        error: 'email is required without jobCandidateId',
      }),
    status: 200,
    envelope: 'status-data',
    response: statusData(
      z
        .looseObject({
          message: z.string().nullish(),
          flowCandidateId: TextId,
          firstStepAssessmentId: TextId.nullish(),
        })
        .meta({ id: 'FlowAssignment' }),
    ),
    errors: errorsOf(invalidRequest, notFound('assessment flow, job candidate or job')),
    assumed: ['L1', 'L5', 'L7', 'L9'],
  }),
};
