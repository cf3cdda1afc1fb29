import type { Cases } from './case.ts';
import { enrolment, flowOf, newEnrolment, newJobCandidate, SOMEBODY_ELSE } from './records.ts';
import type { World } from './world.ts';

/** Sections 2.9, 4.9. */
const own = async (world: World) => ({ onboardingCandidateId: (await newEnrolment(world)).onboardingCandidateId });
const unknown = { onboardingCandidateId: SOMEBODY_ELSE };
const flow = async ({ partner }: World) => ({ flowId: await flowOf(partner) });
const twice = async (world: World) => {
  const { onboardingCandidateId: _id, ...again } = await newEnrolment(world);
  return again;
};
const noCredits = ({ control }: World) => control.act('setCredits', { onboardingCredits: 0 });

export const onboardingCases: Cases<'onboarding'> = {
  listFlows: { success: () => ({}), refusals: { INVALID_REQUEST: () => ({ query: { limit: 101 } }) } },
  enrol: {
    success: async (world) => ({ params: await flow(world), body: enrolment(world) }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await flow(world), body: { ...enrolment(world), email: 'none' } }),
      NOT_FOUND: async (world) => ({ params: { flowId: await flowOf(world.other) }, body: enrolment(world) }),
      DUPLICATE_ENROLLMENT: async (world) => ({ params: await flow(world), body: await twice(world) }),
      INSUFFICIENT_ONBOARDING_CREDITS: async (world) => {
        await noCredits(world);
        return { params: await flow(world), body: enrolment(world) };
      },
    },
  },
  enrolBulk: {
    success: async (world) => ({
      params: await flow(world),
      body: { candidates: [enrolment(world), enrolment(world)] },
    }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await flow(world), body: { candidates: [] } }),
      NOT_FOUND: (world) => ({ params: { flowId: SOMEBODY_ELSE }, body: { candidates: [enrolment(world)] } }),
      DUPLICATE_ENROLLMENT: async (world) => ({
        params: await flow(world),
        body: { candidates: [await twice(world)] },
      }),
      INSUFFICIENT_ONBOARDING_CREDITS: async (world) => {
        await noCredits(world);
        return { params: await flow(world), body: { candidates: [enrolment(world)] } };
      },
    },
  },
  getCandidate: {
    success: async (world) => ({ params: await own(world) }),
    refusals: { NOT_FOUND: () => ({ params: unknown }) },
  },
  listCandidates: {
    success: async (world) => ({ query: { externalRef: (await newEnrolment(world)).externalRef } }),
    refusals: { INVALID_REQUEST: () => ({ query: { page: 0 } }) },
  },
  listDocuments: {
    success: async (world) => ({ params: await finished(world) }),
    refusals: { NOT_FOUND: () => ({ params: unknown }) },
  },
  getDocument: {
    success: async (world) => ({ params: await documentOf(world) }),
    refusals: { NOT_FOUND: async (world) => ({ params: { ...(await own(world)), documentId: SOMEBODY_ELSE } }) },
  },
  setExternalStatus: {
    success: async (world) => ({ params: await own(world), body: { status: 'HIRED', employeeId: 'E-1' } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await own(world), body: {} }),
      NOT_FOUND: () => ({ params: unknown, body: { status: 'HIRED' } }),
    },
  },
  terminate: {
    success: async (world) => ({ params: await own(world), body: { reason: 'Left' } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await own(world), body: { reason: 7 } }),
      NOT_FOUND: () => ({ params: unknown }),
      ALREADY_TERMINAL: async (world) => {
        const params = await own(world);
        await world.partner.onboarding.terminate({ params });
        return { params };
      },
    },
  },
  listOffers: {
    success: async (world) => {
      await newOffer(world);
      return {};
    },
    refusals: { INVALID_REQUEST: () => ({ query: { status: 'declined' } }) },
  },
  getOffer: {
    success: async (world) => ({ params: { offerId: await newOffer(world) } }),
    refusals: { NOT_FOUND: () => ({ params: { offerId: SOMEBODY_ELSE } }) },
  },
};

/** Somebody whose documents are verified. */
async function finished(world: World): Promise<{ onboardingCandidateId: string }> {
  const params = await own(world);
  await world.control.act('finishOnboarding', params);
  return params;
}

async function documentOf(world: World): Promise<{ onboardingCandidateId: string; documentId: string }> {
  const params = await finished(world);
  const { data } = await world.partner.onboarding.listDocuments({ params });
  return { ...params, documentId: String((data['documents'] as { documentId: string }[])[0]?.documentId) };
}

/** An offer of somebody in a job, as a draft. */
export async function newOffer(world: World): Promise<string> {
  const { jobCandidateId } = await newJobCandidate(world);
  return (await world.control.act('createOffer', { jobCandidateId: Number(jobCandidateId) })).offerId;
}
