import { z } from 'zod';
import { JobInput, jobStatuses, publishTypes } from '../../partner/contract/jobs.ts';
import { transferJob } from '../records/job-candidates/transfers.ts';
import { createJob, findJob, renderJob, setJobStatus, updateJob } from '../records/jobs/jobs.ts';
import { findPipeline } from '../records/pipelines/pipelines.ts';
import { defineAction } from './action.ts';

const { status: _status, customFields: _values, ...asked } = JobInput.shape;
const details = { ...asked, publishType: z.enum(publishTypes).optional(), pipelineId: z.int().optional() };

export const jobs = {
  createJob: defineAction({
    summary: 'Create a job in the dashboard, on the first pipeline unless another is named: job.created',
    input: z.strictObject({
      job: z.strictObject({
        ...details,
        city: asked.city.default('Berlin'),
        state: asked.state.default(''),
        country: asked.country.default('Germany'),
        status: z.enum(jobStatuses).default('ACTIVE'),
      }),
    }),
    run(ctx, { job }) {
      JobInput.parse({ ...job, status: undefined });
      return renderJob(ctx, createJob(ctx, job));
    },
  }),

  editJob: defineAction({
    summary: "Edit a job's basic details, or put it on another pipeline: job.updated when something changes",
    input: z.strictObject({ jobId: z.int(), fields: z.strictObject(details).partial() }),
    run(ctx, { jobId, fields: { pipelineId, ...fields } }) {
      const job = findJob(ctx, jobId);
      const pipeline = pipelineId === undefined ? undefined : findPipeline(ctx, pipelineId);
      const updated = updateJob(ctx, jobId, fields, pipeline?.id);
      if (pipeline !== undefined && pipeline.id !== job.pipelineId) transferJob(ctx, jobId, pipeline.id);
      return renderJob(ctx, updated);
    },
  }),

  setJobStatus: defineAction({
    summary: "Change a job's status: job.status_changed",
    input: z.strictObject({
      jobId: z.int(),
      status: z.enum(jobStatuses),
      closingStatus: z.string().optional(),
      closingReason: z.string().optional(),
    }),
    run: (ctx, { jobId, status, closingStatus, closingReason }) =>
      renderJob(ctx, setJobStatus(ctx, jobId, status, { status: closingStatus, reason: closingReason })),
  }),
};
