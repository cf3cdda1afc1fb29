/** Sections 2.1, 4.1: pipelines and their stages. */
import { z } from 'zod';
import {
  Confirmation,
  defineEndpoint,
  errorsOf,
  invalidRequest,
  notFound,
  refusal,
  statusData,
  statusList,
} from './endpoint.ts';
import { IsoTime, openEnum, PipelineId, pathInteger, StageId } from './shapes.ts';
export const stageTypes = [
  'SOURCED',
  'APPLIED',
  'ASSESSMENT',
  'SCREEN',
  'SHORTLISTED',
  'OFFER',
  'ONBOARDING',
  'HIRED',
] as const;
export type StageType = (typeof stageTypes)[number];

/** Name only may be changed; never deleted (section 2.1). */
export const systemStageTypes = ['SOURCED', 'APPLIED', 'HIRED'] as const satisfies readonly StageType[];
/** What POST /pipelines/stages accepts as type. */
const editableStageTypes = ['ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'OFFER', 'ONBOARDING'] as const;
/** Stages of a new pipeline, in order. */
export const defaultStageTypes = ['SOURCED', 'APPLIED', 'ASSESSMENT', 'SCREEN', 'SHORTLISTED', 'HIRED'] as const;

const Stage = z
  .looseObject({
    id: StageId,
    name: z.string(),
    type: openEnum(stageTypes),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
  })
  .meta({ id: 'Stage' });

/** The order of `stages` is the order of the pipeline (P8). */
export const Pipeline = z
  .looseObject({
    id: PipelineId,
    name: z.string(),
    createdAt: IsoTime.nullish(),
    updatedAt: IsoTime.nullish(),
    stages: z.array(Stage),
  })
  .meta({ id: 'Pipeline' });
export type Pipeline = z.infer<typeof Pipeline>;

const PipelineName = z.looseObject({ id: PipelineId, name: z.string() }).meta({ id: 'PipelineName' });
const nameBody = z.object({ name: z.string().trim().min(1, { error: 'Pipeline name is required' }) });
const pipelineParams = z.object({ pipelineId: pathInteger() });

/** Create when stageId is absent, update when present; the sandbox refuses what depends on the stage at hand. */
const saveStageBody = z
  .object({
    pipelineId: z.int(),
    name: z.string().trim().min(1).optional(),
    type: z.enum(stageTypes, { error: 'Stage type is not valid' }).optional(),
    stageId: z.int().optional(),
    order: z.int().min(1).optional(),
  })
  .refine((body) => body.stageId !== undefined || body.name !== undefined, {
    path: ['name'],
    error: 'Stage name is required for a new stage',
  })
  .refine((body) => body.stageId !== undefined || isEditable(body.type), {
    path: ['type'],
    error: 'Stage type is not valid',
  });

function isEditable(type: StageType | undefined): boolean {
  return editableStageTypes.some((editable) => editable === type);
}

const foreignPipeline = refusal('PERMISSION_DENIED', 'pipeline of another company');
const unknownPipeline = refusal('PIPELINE_NOT_FOUND', 'unknown pipeline');

export const pipelines = {
  list: defineEndpoint({
    id: 'pipelines.list',
    method: 'GET',
    path: '/pipelines',
    section: '4.1',
    summary: 'List pipelines with their stages',
    status: 200,
    envelope: 'status-data',
    response: statusList('data.pipelines'),
    list: { itemsAt: 'data', item: Pipeline, idKey: 'id' },
    errors: errorsOf(),
    assumed: ['P8', 'P13'],
  }),
  get: defineEndpoint({
    id: 'pipelines.get',
    method: 'GET',
    path: '/pipelines/:pipelineId',
    section: '4.1',
    summary: 'Get a pipeline',
    params: pipelineParams,
    status: 200,
    envelope: 'status-data',
    response: statusData(Pipeline),
    errors: errorsOf(invalidRequest, unknownPipeline, foreignPipeline),
    assumed: ['G8'],
  }),
  create: defineEndpoint({
    id: 'pipelines.create',
    method: 'POST',
    path: '/pipelines',
    section: '4.1',
    summary: 'Create a pipeline with the default stages',
    body: nameBody,
    status: 200,
    envelope: 'status-data',
    response: statusData(PipelineName),
    errors: errorsOf(refusal('INVALID_REQUEST', 'pipeline name missing')),
    assumed: ['G1', 'G19', 'P10'],
  }),
  rename: defineEndpoint({
    id: 'pipelines.rename',
    method: 'PUT',
    path: '/pipelines/:pipelineId',
    section: '4.1',
    summary: 'Rename a pipeline',
    params: pipelineParams,
    body: nameBody,
    status: 200,
    envelope: 'status-data',
    response: statusData(PipelineName),
    errors: errorsOf(refusal('INVALID_REQUEST', 'pipeline name missing'), unknownPipeline, foreignPipeline),
    assumed: ['G19', 'P10'],
  }),
  saveStage: defineEndpoint({
    id: 'pipelines.saveStage',
    method: 'POST',
    path: '/pipelines/stages',
    section: '4.1',
    summary: 'Create a stage, or update the one named by stageId',
    body: saveStageBody,
    status: 201,
    okStatuses: [201, 200],
    envelope: 'status-data',
    response: statusData(Stage),
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'stage type invalid, order out of range 1 to stage count, stage id invalid'),
      unknownPipeline,
      foreignPipeline,
      notFound('stage'),
    ),
    assumed: ['P1', 'P2', 'P3', 'P4', 'P5', 'P7', 'P9', 'P11', 'P12'],
  }),
  deleteStage: defineEndpoint({
    id: 'pipelines.deleteStage',
    method: 'DELETE',
    path: '/pipelines/stages/:stageId',
    section: '4.1',
    summary: 'Delete a stage and move its candidates to another',
    params: z.object({ stageId: pathInteger() }),
    body: z.object({ pipelineId: z.int(), newStageId: z.int() }),
    status: 200,
    envelope: 'status-data',
    response: Confirmation,
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'delete of SOURCED, APPLIED or HIRED; stage id invalid; newStageId missing'),
      unknownPipeline,
      foreignPipeline,
      notFound('stage'),
    ),
    assumed: ['P5', 'P6', 'P7', 'E10'],
  }),
};
