import { z } from 'zod';
import { CandidateInput } from '../../partner/contract/candidate.ts';
import { JobCandidateUpdate } from '../../partner/contract/job-candidate.ts';
import { stageTypes } from '../../partner/contract/pipelines.ts';
import type { Context } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import { emit } from '../events.ts';
import {
  candidateByEmail,
  createCandidate,
  deleteCandidates,
  updateCandidate,
} from '../records/candidates/candidates.ts';
import { apply } from '../records/job-candidates/applications.ts';
import type { JobCandidate } from '../records/job-candidates/job-candidates.ts';
import {
  addToJob,
  findJobCandidate,
  jobCandidateOf,
  moveToStage,
  rejectJobCandidates,
  removeJobCandidates,
  stageForJobCandidate,
  stageNow,
  tellAdded,
} from '../records/job-candidates/job-candidates.ts';
import { findJob } from '../records/jobs/jobs.ts';
import type { Stage } from '../records/pipelines/pipelines.ts';
import { findStage } from '../records/pipelines/pipelines.ts';
import { defineAction, Ids } from './action.ts';

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
      /** Attached to the form; what it says stands in the application record. */
      resume: z.boolean().default(true),
      /** Section 2.4: noticePeriod, expectedCTC, screeningQuestionAnswer, otherFiles... */
      application: Form.default({}),
    }),
    run: (ctx, input) => shown(ctx, apply(ctx, input)),
  }),

  addCandidate: defineAction({
    summary: 'A recruiter adds a person, to a job when jobId is given: candidate.added_to_job',
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
    summary: 'Send candidate.hired again, as if the platform repeated itself; moves nobody',
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
    summary: 'Delete people from the company: one candidate.removed_from_job a job',
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
