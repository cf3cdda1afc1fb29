import type { Cases } from './case.ts';
import { NOBODY, newEmail, newJob, newJobCandidate, newPipeline, SOMEBODY_ELSE, stageOfJobs } from './records.ts';
import type { World } from './world.ts';

/** Sections 2.4, 4.4. */
const resumeURLs = ['https://files.example.com/ada.pdf'];
const someone = async (world: World) => ({ jobCandidateId: (await newJobCandidate(world)).jobCandidateId });
const unknown = () => ({ params: { jobCandidateId: NOBODY } });
const noId = () => ({ params: { jobCandidateId: 'abc' } });

export const jobCandidateCases: Cases<'jobCandidates'> = {
  bulkFetch: {
    success: async (world) => ({ body: { jobCandidateIds: [(await newJobCandidate(world)).jobCandidateId] } }),
    refusals: { INVALID_REQUEST: () => ({ body: {} }) },
  },
  rescore: {
    success: async (world) => ({ body: { jobId: (await newJobCandidate(world)).jobId } }),
    refusals: {
      INVALID_REQUEST: () => ({ body: { jobId: 'one' } }),
      PERMISSION_DENIED: async (world) => ({
        body: { jobId: (await newJob(world.partner)).id, stageId: (await newPipeline(world.other)).stage('HIRED') },
      }),
      NOT_FOUND: () => ({ body: { jobId: NOBODY } }),
      INSUFFICIENT_CREDITS: async (world) => {
        const { jobId } = await newJobCandidate(world);
        await world.control.act('setCredits', { credits: 0 });
        return { body: { jobId } };
      },
    },
  },
  getRescore: {
    success: async (world) => ({ params: await newRescore(world) }),
    refusals: { NOT_FOUND: () => ({ params: { rescoreId: SOMEBODY_ELSE } }) },
  },
  listRescored: {
    success: async (world) => ({ params: await newRescore(world) }),
    refusals: { NOT_FOUND: () => ({ params: { rescoreId: SOMEBODY_ELSE } }) },
  },
  uploadResumes: {
    success: async ({ partner }) => ({ body: { jobId: (await newJob(partner)).id, resumeURLs } }),
    refusals: {
      INVALID_REQUEST: async ({ partner }) => ({ body: { jobId: (await newJob(partner)).id, resumeURLs: [] } }),
      NOT_FOUND: () => ({ body: { jobId: NOBODY, resumeURLs } }),
    },
  },
  listByJob: {
    success: async (world) => ({ params: { jobId: (await newJobCandidate(world)).jobId } }),
    refusals: {
      INVALID_PER_PAGE: async ({ partner }) => ({
        params: { jobId: (await newJob(partner)).id },
        query: { perPage: 101 },
      }),
      INVALID_REQUEST: async ({ partner }) => ({
        params: { jobId: (await newJob(partner)).id },
        query: { minScore: 101 },
      }),
      NOT_FOUND: () => ({ params: { jobId: NOBODY } }),
    },
  },
  listByStageType: {
    success: async (world) => ({ query: { stageType: 'sourced', jobId: (await newJobCandidate(world)).jobId } }),
    refusals: {
      INVALID_PER_PAGE: () => ({ query: { stageType: 'SOURCED', perPage: 0 } }),
      INVALID_REQUEST: () => ({ query: {} }),
    },
  },
  listByStage: {
    success: async (world) => ({
      params: { stageId: await stageOfJobs(world.partner, 'SOURCED') },
      query: { jobId: (await newJobCandidate(world)).jobId },
    }),
    refusals: {
      INVALID_PER_PAGE: async ({ partner }) => ({
        params: { stageId: await stageOfJobs(partner, 'SOURCED') },
        query: { perPage: 101 },
      }),
      INVALID_REQUEST: () => ({ params: { stageId: 'abc' } }),
      NOT_FOUND: () => ({ params: { stageId: NOBODY } }),
      PERMISSION_DENIED: async ({ other }) => ({ params: { stageId: (await newPipeline(other)).stage('HIRED') } }),
    },
  },
  update: {
    success: async (world) => ({ params: await someone(world), body: { noticePeriod: '30 days' } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await someone(world), body: {} }),
      NOT_FOUND: () => ({ ...unknown(), body: { noticePeriod: '30 days' } }),
    },
  },
  remove: {
    success: async (world) => ({ params: await someone(world) }),
    refusals: { INVALID_REQUEST: noId, NOT_FOUND: unknown },
  },
  move: {
    success: async (world) => ({
      params: await someone(world),
      body: { stageId: await stageOfJobs(world.partner, 'SCREEN') },
    }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await someone(world), body: {} }),
      PERMISSION_DENIED: async (world) => ({
        params: await someone(world),
        body: { stageId: (await newPipeline(world.other)).stage('HIRED') },
      }),
      NOT_FOUND: async (world) => ({ params: await someone(world), body: { stageId: NOBODY } }),
    },
  },
  getApplication: {
    success: async (world) => ({ params: await applied(world, true) }),
    refusals: {
      INVALID_REQUEST: noId,
      NOT_FOUND: unknown,
      NO_APPLICATION: async (world) => ({ params: await someone(world) }),
    },
  },
  getConsentDocument: {
    success: async (world) => ({ params: await applied(world, true) }),
    refusals: {
      INVALID_REQUEST: noId,
      NOT_FOUND: unknown,
      NO_APPLICATION: async (world) => ({ params: await someone(world) }),
      NO_CONSENT_RECORD: async (world) => ({ params: await applied(world, false) }),
    },
  },
};

async function newRescore(world: World): Promise<{ rescoreId: string }> {
  const { jobId } = await newJobCandidate(world);
  return { rescoreId: String((await world.partner.jobCandidates.rescore({ body: { jobId } })).data.rescoreId) };
}

/** Somebody who came through the hosted page. */
export async function applied(
  world: World,
  consent: boolean,
  application: Record<string, unknown> = {},
): Promise<{ jobCandidateId: number }> {
  const job = await newJob(world.partner);
  const { jobCandidateId } = await world.control.act('apply', {
    jobId: Number(job.id),
    candidate: { email: newEmail(world), firstName: 'Ada', lastName: 'Lovelace' },
    consent,
    application,
  });
  return { jobCandidateId };
}
