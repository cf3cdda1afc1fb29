import { eventually } from '../open-sandbox.ts';
import type { Cases } from './case.ts';
import {
  NOBODY,
  newCandidate,
  newEmail,
  newField,
  newJob,
  newJobCandidate,
  profile,
  SOMEBODY_ELSE,
} from './records.ts';
import type { World } from './world.ts';

/** Sections 2.2, 2.3, 4.2, 4.3. */
const place = { title: 'Nurse', city: 'Oslo', state: '', country: 'Norway' };
const unknownField = { customFields: { [SOMEBODY_ELSE]: 'x' } };
const foreignField = async ({ other }: World) => ({ customFields: { [await newField(other)]: 'x' } });
const resumeURLs = ['https://files.example.com/ada.pdf'];

export const jobCases: Cases<'jobs'> = {
  list: {
    success: () => ({ query: { status: 'ACTIVE', perPage: 20 } }),
    refusals: {
      INVALID_PER_PAGE: () => ({ query: { perPage: 50 } }),
      INVALID_STATUS: () => ({ query: { status: 'DELETED' } }),
      INVALID_PUBLISH_TYPE: () => ({ query: { publishType: 'SECRET' } }),
      INVALID_WORK_MODE: () => ({ query: { workMode: 'MOON' } }),
      INVALID_REQUEST: () => ({ query: { pageNumber: 0 } }),
    },
  },
  create: {
    success: () => ({ body: place }),
    refusals: {
      INVALID_REQUEST: () => ({ body: { ...place, title: 'RN' } }),
      NOT_FOUND: () => ({ body: { ...place, teamId: SOMEBODY_ELSE } }),
      CUSTOM_FIELD_NOT_FOUND: () => ({ body: { ...place, ...unknownField } }),
      PERMISSION_DENIED: async (world) => ({ body: { ...place, ...(await foreignField(world)) } }),
    },
  },
};

export const candidateCases: Cases<'candidates'> = {
  add: {
    success: async (world) => ({ body: { ...profile(world), jobId: Number((await newJob(world.partner)).id) } }),
    refusals: {
      INVALID_REQUEST: () => ({ body: { email: 'nobody' } }),
      NOT_FOUND: (world) => ({ body: { ...profile(world), jobId: NOBODY } }),
      CUSTOM_FIELD_NOT_FOUND: (world) => ({ body: { ...profile(world), ...unknownField } }),
      PERMISSION_DENIED: async (world) => ({ body: { ...profile(world), ...(await foreignField(world)) } }),
      INSUFFICIENT_CREDITS: async (world) => {
        await world.control.act('setCredits', { credits: 0 });
        return { body: { ...profile(world), shouldParseResume: true, resume: resumeURLs[0] } };
      },
    },
  },
  list: {
    success: () => ({ query: { perPage: 100, includeJobApplicationDetails: true } }),
    refusals: {
      INVALID_PER_PAGE: () => ({ query: { perPage: 101 } }),
      INVALID_REQUEST: () => ({ query: { createdAtMin: '2026-02-02', createdAtMax: '2026-02-01' } }),
    },
  },
  get: {
    success: async (world) => ({ params: { candidateId: await newCandidate(world) } }),
    refusals: {
      INVALID_REQUEST: () => ({ params: { candidateId: 'abc' } }),
      NOT_FOUND: async (world) => ({ params: { candidateId: await newCandidate(world, world.other) } }),
    },
  },
  update: {
    success: async (world) => ({ params: { candidateId: await newCandidate(world) }, body: { city: 'Bergen' } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: { candidateId: await newCandidate(world) }, body: {} }),
      NOT_FOUND: async (world) => ({
        params: { candidateId: await newCandidate(world, world.other) },
        body: { city: 'Bergen' },
      }),
      CUSTOM_FIELD_NOT_FOUND: async (world) => ({
        params: { candidateId: await newCandidate(world) },
        body: unknownField,
      }),
      PERMISSION_DENIED: async (world) => ({
        params: { candidateId: await newCandidate(world) },
        body: await foreignField(world),
      }),
      EMAIL_CONFLICT: async (world) => {
        const email = newEmail(world);
        await world.partner.candidates.add({ body: { ...profile(world), email } });
        return { params: { candidateId: await newCandidate(world) }, body: { email } };
      },
    },
  },
  uploadResumes: {
    success: () => ({ body: { resumeURLs } }),
    refusals: { INVALID_REQUEST: () => ({ body: { resumeURLs: ['not a url'] } }) },
  },
  getBatch: {
    success: async (world) => ({ params: { batchId: await newBatch(world) } }),
    refusals: {
      INVALID_PER_PAGE: async (world) => ({ params: { batchId: await newBatch(world) }, query: { perPage: 11 } }),
      INVALID_REQUEST: async (world) => ({ params: { batchId: await newBatch(world) }, query: { page: 0 } }),
      NOT_FOUND: () => ({ params: { batchId: SOMEBODY_ELSE } }),
    },
  },
  bulkFetch: {
    success: async (world) => ({ body: { candidateIds: [(await newJobCandidate(world)).candidateId] } }),
    refusals: { INVALID_REQUEST: () => ({ body: { candidateIds: [] } }) },
  },
};

/** A batch whose first candidate is there. */
async function newBatch({ partner }: World): Promise<string> {
  const params = { batchId: String((await partner.candidates.uploadResumes({ body: { resumeURLs } })).data.batchId) };
  await eventually(
    () => partner.candidates.getBatch({ params }),
    ({ data }) => data.candidates.length > 0,
  );
  return params.batchId;
}
