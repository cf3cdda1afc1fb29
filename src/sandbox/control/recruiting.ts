import { z } from 'zod';
import { CandidateInput } from '../../partner/contract/candidates.ts';
import { entityTypes, fieldTypes } from '../../partner/contract/custom-fields.ts';
import { JobCandidateUpdate } from '../../partner/contract/job-candidates.ts';
import { JobInput, jobStatuses, publishTypes } from '../../partner/contract/jobs.ts';
import { stageTypes } from '../../partner/contract/pipelines.ts';
import { type Context, invalidRequest } from '../context.ts';
import { apply, changeConsent } from '../records/applications.ts';
import { candidateByEmail, createCandidate, deleteCandidates, updateCandidate } from '../records/candidates.ts';
import {
  createCustomField,
  deleteCustomField,
  listCustomFields,
  renderValue,
  upsertValue,
} from '../records/custom-fields.ts';
import { emit } from '../records/deliveries.ts';
import {
  addToJob,
  findJobCandidate,
  type JobCandidate,
  jobCandidateOf,
  moveToStage,
  rejectJobCandidates,
  removeJobCandidates,
  stageForJobCandidate,
  stageNow,
  tellAdded,
  transferJob,
} from '../records/job-candidates.ts';
import {
  createJob,
  findJob,
  findPipeline,
  findStage,
  renderJob,
  type Stage,
  setJobStatus,
  updateJob,
} from '../records/pipelines.ts';
import { defineAction } from './action.ts';

/** One id or several. */
const Ids = z.array(z.int().positive()).min(1).max(1000);

export const customFields = {
  createCustomField: defineAction({
    summary: 'Define a custom field of candidates or jobs',
    input: z.strictObject({
      entityType: z.enum(entityTypes),
      fieldLabel: z.string().min(1),
      fieldType: z.enum(fieldTypes),
      options: z.array(z.string()).optional(),
      parentSection: z.string().optional(),
    }),
    run: (ctx, input) => createCustomField(ctx, input),
  }),

  deleteCustomField: defineAction({
    summary: 'Delete a definition; values stay',
    input: z.strictObject({ customFieldId: z.string() }),
    run(ctx, { customFieldId }) {
      deleteCustomField(ctx, customFieldId);
      return { deleted: customFieldId };
    },
  }),

  setCustomFieldValue: defineAction({
    summary: 'Set a value, the field named by id or label',
    input: z.strictObject({
      customFieldId: z.string().optional(),
      fieldLabel: z.string().optional(),
      entityType: z.enum(entityTypes),
      entityId: z.int(),
      value: z.unknown(),
    }),
    run(ctx, { customFieldId, fieldLabel, entityType, entityId, value }) {
      const id =
        customFieldId ?? listCustomFields(ctx, entityType).find((field) => field.fieldLabel === fieldLabel)?.id;
      return renderValue(upsertValue(ctx, { customFieldId: id ?? '', entityType, entityId, value }));
    },
  }),
};

const { jobId: _job, shouldParseResume: _parse, customFields: _values, ...profile } = CandidateInput.shape;
/** Blanks around an address that somebody pasted are dropped, zero-width ones too. */
const email = z
  .string()
  .transform((text) => text.replaceAll(/[\s\u200b\ufeff]/g, ''))
  .pipe(profile.email);
const Profile = z.strictObject({ ...profile, email });
const { resume: _resume, ...edited } = profile;

const { evaluationStatus: _status, ...application } = JobCandidateUpdate.shape;
const Form = z.strictObject({
  ...application,
  screeningQuestionAnswer: z.array(z.strictObject({ question: z.string(), answer: z.string() })).optional(),
  otherFiles: z.array(z.strictObject({ name: z.string().min(1), url: z.url().optional() })).optional(),
});

export const recruiting = {
  apply: defineAction({
    summary: 'Send in the hosted application page of an ACTIVE job, with or without consent: candidate.applied',
    input: z.strictObject({
      jobId: z.int(),
      candidate: Profile,
      consent: z.boolean().default(true),
      policyVersion: z.string().min(1).optional(),
      /** Attached to the form; its content is in the application record. */
      resume: z.boolean().default(true),
      /** Section 2.4: noticePeriod, expectedCTC, screeningQuestionAnswer, otherFiles... */
      application: Form.default({}),
    }),
    run: (ctx, input) => shown(ctx, apply(ctx, input)),
  }),

  changeConsent: defineAction({
    summary: 'Withdraw the consent of an application, or change its day: candidate.updated',
    input: z.strictObject({ jobCandidateId: z.int(), expiresAt: z.int().optional() }),
    run(ctx, { jobCandidateId, expiresAt }) {
      changeConsent(ctx, jobCandidateId, expiresAt);
      return { jobCandidateId };
    },
  }),

  addCandidate: defineAction({
    summary: 'A recruiter adds a person, to a job if jobId is given: candidate.added_to_job',
    input: z.strictObject({
      candidate: Profile,
      jobId: z.int().optional(),
      stageType: z.enum(stageTypes).default('SOURCED'),
    }),
    run(ctx, { candidate, jobId, stageType }) {
      const person = candidateByEmail(ctx, candidate.email) ?? createCandidate(ctx, candidate);
      if (jobId === undefined) return { candidateId: person.id };
      const present = jobCandidateOf(ctx, jobId, person.id);
      if (present !== undefined) return shown(ctx, present);
      const added = addToJob(ctx, person.id, findJob(ctx, jobId), stageType);
      tellAdded(ctx, [added]);
      return shown(ctx, added);
    },
  }),

  editCandidate: defineAction({
    summary: 'Edit a profile: candidate.updated',
    input: z.strictObject({ candidateId: z.int(), fields: z.strictObject({ ...edited, email }).partial() }),
    run: (ctx, { candidateId, fields }) => updateCandidate(ctx, candidateId, fields),
  }),

  move: defineAction({
    summary:
      'Move one or many to a stage, by id or by type: candidate.stage_changed, and candidate.hired besides for HIRED',
    input: z.strictObject({
      jobCandidateIds: Ids,
      stageId: z.int().optional(),
      stageType: z.enum(stageTypes).optional(),
    }),
    run(ctx, { jobCandidateIds, stageId, stageType }) {
      const targets = Map.groupBy(jobCandidateIds, (id) => targetStage(ctx, id, stageId, stageType).id);
      return {
        moved: [...targets]
          .flatMap(([id, ids]) => moveToStage(ctx, ids, findStage(ctx, id)))
          .map((one) => shown(ctx, one)),
      };
    },
  }),

  announceHired: defineAction({
    summary: 'Send candidate.hired again, like a repeated event; moves nobody',
    input: z.strictObject({ jobCandidateIds: Ids }),
    run(ctx, { jobCandidateIds }) {
      const byJob = Map.groupBy(
        jobCandidateIds.map((id) => findJobCandidate(ctx, id)),
        (one) => one.jobId,
      );
      for (const [jobId, group] of byJob) {
        emit(ctx, 'candidate.hired', {
          jobId,
          jobCandidateIds: group.map((one) => one.id),
          candidateIds: group.map((one) => one.candidateId),
        });
      }
      return { events: byJob.size };
    },
  }),

  reject: defineAction({
    summary: 'Reject job candidates: candidate.rejected',
    input: z.strictObject({ jobCandidateIds: Ids, reason: z.string().nullable().default(null) }),
    run(ctx, { jobCandidateIds, reason }) {
      rejectJobCandidates(ctx, jobCandidateIds, reason);
      return { rejected: jobCandidateIds };
    },
  }),

  deleteJobCandidate: defineAction({
    summary: 'Take people off their jobs, profiles stay: candidate.removed_from_job',
    input: z.strictObject({ jobCandidateIds: Ids }),
    run(ctx, { jobCandidateIds }) {
      removeJobCandidates(ctx, jobCandidateIds);
      return { removed: jobCandidateIds };
    },
  }),

  deleteCandidate: defineAction({
    summary: 'Delete people from the company: one candidate.removed_from_job per job',
    input: z.strictObject({ candidateIds: Ids }),
    run(ctx, { candidateIds }) {
      deleteCandidates(ctx, candidateIds);
      return { deleted: candidateIds };
    },
  }),
};

/** The stage of a type is that of the person's own job. */
function targetStage(
  ctx: Context,
  jobCandidateId: number,
  stageId: number | undefined,
  stageType: string | undefined,
): Stage {
  if (stageId !== undefined) return findStage(ctx, stageId);
  const stage = stageForJobCandidate(ctx, findJobCandidate(ctx, jobCandidateId), stageType ?? '');
  if (stage === undefined)
    throw invalidRequest('stageId, or a stageType that the pipeline has, is required', {
      stageType: 'missing or not there',
    });
  return stage;
}

function shown(
  ctx: Context,
  one: JobCandidate,
): { jobCandidateId: number; candidateId: number; jobId: number; stageId: number; stageType: string } {
  return {
    jobCandidateId: one.id,
    candidateId: one.candidateId,
    jobId: one.jobId,
    stageId: one.stageId,
    stageType: stageNow(ctx, one)?.type ?? '',
  };
}

const { status: _jobStatus, customFields: _jobValues, ...asked } = JobInput.shape;
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
    summary: "Edit a job's basic details, or move it to another pipeline: job.updated if something changes",
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
