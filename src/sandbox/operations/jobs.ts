/** Section 4.2: jobs. */
import { upsertValuesOf } from '../records/custom-fields/custom-field-values.ts';
import { createJob, findJob, listJobs, renderJob } from '../records/jobs/jobs.ts';
import { requireTeam } from '../records/workspace/teams.ts';
import type { OperationTree } from './operation.ts';

/** Text filters match a part, whatever the case (J2, assumed). */
const PARTIAL: Record<string, string> = { jobTitle: 'title', city: 'city', state: 'state', country: 'country' };
const EXACT: Record<string, string> = {
  teamId: 'teamId',
  careerLevel: 'careerLevel',
  contractType: 'contractType',
  degreeLevel: 'degreeLevel',
  jobRole: 'jobRole',
  publishType: 'publishType',
  workMode: 'workMode',
};

export const jobs = {
  list(ctx, { query }) {
    const conditions: string[] = [query.status === undefined ? "status <> 'DELETED'" : 'status = ?'];
    const values: string[] = query.status === undefined ? [] : [query.status];
    for (const [name, value] of Object.entries(query)) {
      if (typeof value !== 'string') continue;
      if (PARTIAL[name] !== undefined) conditions.push(`instr(lower(body ->> '${PARTIAL[name]}'), lower(?)) > 0`);
      else if (EXACT[name] !== undefined) conditions.push(`body ->> '${EXACT[name]}' = ?`);
      else continue;
      values.push(value);
    }
    const page = listJobs(ctx, conditions, values, { size: query.perPage, number: query.pageNumber });
    return { body: { jobs: page.jobs.map((job) => renderJob(ctx, job)), totalJobs: page.total } };
  },

  create(ctx, { body }) {
    if (body.teamId !== undefined) requireTeam(ctx, body.teamId);
    const job = createJob(ctx, body);
    upsertValuesOf(ctx, 'job', job.id, body.customFields ?? {});
    return { body: renderJob(ctx, findJob(ctx, job.id)) };
  },
} satisfies OperationTree['jobs'];
