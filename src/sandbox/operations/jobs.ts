/** Section 4.2: jobs. */
import { upsertValuesOf } from '../records/custom-fields/custom-field-values.ts';
import { createJob, findJob, listJobs, renderJob } from '../records/jobs/jobs.ts';
import { requireTeam } from '../records/workspace/teams.ts';
import type { OperationTree } from './operation.ts';

export const jobs = {
  list(ctx, { query }) {
    const { jobs: page, total } = listJobs(ctx, query);
    return { body: { jobs: page.map((job) => renderJob(ctx, job)), totalJobs: total } };
  },

  create(ctx, { body }) {
    if (body.teamId !== undefined) requireTeam(ctx, body.teamId);
    const job = createJob(ctx, body);
    upsertValuesOf(ctx, 'job', job.id, body.customFields ?? {});
    return { body: renderJob(ctx, findJob(ctx, job.id)) };
  },
} satisfies OperationTree['jobs'];
