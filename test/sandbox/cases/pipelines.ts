import type { Cases } from './case.ts';
import { NOBODY, newPipeline } from './records.ts';
import type { World } from './world.ts';

/** Sections 2.1, 4.1. */
const ofOther = async ({ other }: World) => ({ pipelineId: (await newPipeline(other)).pipelineId });
const screen = { name: 'Screen', type: 'SCREEN' as const };

export const pipelineCases: Cases<'pipelines'> = {
  list: { success: () => ({}), refusals: {} },
  get: {
    success: async ({ partner }) => ({ params: { pipelineId: (await newPipeline(partner)).pipelineId } }),
    refusals: {
      INVALID_REQUEST: () => ({ params: { pipelineId: 'abc' } }),
      PIPELINE_NOT_FOUND: () => ({ params: { pipelineId: NOBODY } }),
      PERMISSION_DENIED: async (world) => ({ params: await ofOther(world) }),
    },
  },
  create: {
    success: () => ({ body: { name: 'New' } }),
    refusals: { INVALID_REQUEST: () => ({ body: { name: '  ' } }) },
  },
  rename: {
    success: async ({ partner }) => ({
      params: { pipelineId: (await newPipeline(partner)).pipelineId },
      body: { name: 'Renamed' },
    }),
    refusals: {
      INVALID_REQUEST: async ({ partner }) => ({
        params: { pipelineId: (await newPipeline(partner)).pipelineId },
        body: {},
      }),
      PIPELINE_NOT_FOUND: () => ({ params: { pipelineId: NOBODY }, body: { name: 'Renamed' } }),
      PERMISSION_DENIED: async (world) => ({ params: await ofOther(world), body: { name: 'Renamed' } }),
    },
  },
  saveStage: {
    success: async ({ partner }) => ({ body: { pipelineId: (await newPipeline(partner)).pipelineId, ...screen } }),
    refusals: {
      INVALID_REQUEST: async ({ partner }) => ({
        body: { pipelineId: (await newPipeline(partner)).pipelineId, ...screen, order: 99 },
      }),
      PIPELINE_NOT_FOUND: () => ({ body: { pipelineId: NOBODY, ...screen } }),
      PERMISSION_DENIED: async (world) => ({ body: { ...(await ofOther(world)), ...screen } }),
      NOT_FOUND: async ({ partner }) => ({
        body: { pipelineId: (await newPipeline(partner)).pipelineId, stageId: NOBODY, name: 'Other' },
      }),
    },
  },
  deleteStage: {
    success: async ({ partner }) => {
      const { pipelineId, stage } = await newPipeline(partner);
      return { params: { stageId: stage('SCREEN') }, body: { pipelineId, newStageId: stage('APPLIED') } };
    },
    refusals: {
      INVALID_REQUEST: async ({ partner }) => {
        const { pipelineId, stage } = await newPipeline(partner);
        return { params: { stageId: stage('HIRED') }, body: { pipelineId, newStageId: stage('APPLIED') } };
      },
      PIPELINE_NOT_FOUND: async ({ partner }) => {
        const { stage } = await newPipeline(partner);
        return { params: { stageId: stage('SCREEN') }, body: { pipelineId: NOBODY, newStageId: stage('APPLIED') } };
      },
      PERMISSION_DENIED: async (world) => {
        const { stage } = await newPipeline(world.partner);
        const body = { ...(await ofOther(world)), newStageId: stage('APPLIED') };
        return { params: { stageId: stage('SCREEN') }, body };
      },
      NOT_FOUND: async ({ partner }) => {
        const { pipelineId, stage } = await newPipeline(partner);
        return { params: { stageId: NOBODY }, body: { pipelineId, newStageId: stage('APPLIED') } };
      },
    },
  },
};
