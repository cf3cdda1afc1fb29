import type { Case, Cases } from './case.ts';
import {
  interview,
  invitee,
  NOBODY,
  newAssessment,
  newEmail,
  newJobCandidate,
  newQuestion,
  SOMEBODY_ELSE,
} from './records.ts';
import type { World } from './world.ts';

/** Sections 2.6, 4.6. */
const own = async ({ partner }: World) => ({ params: { assessmentId: await newAssessment(partner) } });
const foreign = async ({ other }: World) => ({ params: { assessmentId: await newAssessment(other) } });
const unknown = () => ({ params: { assessmentId: SOMEBODY_ELSE } });
const ownQuestion = async ({ partner }: World) => ({ params: await newQuestion(partner) });
const foreignQuestion = async ({ other }: World) => ({ params: await newQuestion(other) });
const unknownQuestion = async ({ partner }: World) => ({
  params: { assessmentId: await newAssessment(partner), questionId: SOMEBODY_ELSE },
});

/** The case of a change whose body is `good`, refused when it is `bad`. */
const change = <Good, Bad>(good: Good, bad: Bad) => ({
  success: async (world: World) => ({ ...(await own(world)), body: good }),
  refusals: {
    INVALID_REQUEST: async (world: World) => ({ ...(await own(world)), body: bad }),
    NOT_FOUND: () => ({ ...unknown(), body: good }),
    ACCESS_DENIED: async (world: World) => ({ ...(await foreign(world)), body: good }),
  },
});

const noCredits = ({ control }: World) => control.act('setCredits', { credits: 0 });
const generator = ({ control }: World, state: 'fails' | 'empty') => control.act('setQuestionGenerator', { state });
const auto = { purpose: 'To learn how the person works', role: 'Nurse' };
const about = { jobDescription: 'A nurse in Oslo' };

/** The three refusals of what costs credits and asks the generator. */
const generation = (call: (world: World) => Promise<object> | object): Case['refusals'] => ({
  INSUFFICIENT_CREDITS: async (world) => {
    const input = await call(world);
    await noCredits(world);
    return input;
  },
  AI_GENERATION_FAILED: async (world) => {
    await generator(world, 'fails');
    return call(world);
  },
  AI_GENERATION_EMPTY: async (world) => {
    await generator(world, 'empty');
    return call(world);
  },
});

export const assessmentCases: Cases<'assessments'> = {
  list: {
    success: async (world) => {
      await own(world);
      return { query: { perPage: 100 } };
    },
    refusals: {
      INVALID_PER_PAGE: () => ({ query: { perPage: 50 } }),
      INVALID_REQUEST: () => ({ query: { pageNumber: 0 } }),
    },
  },
  createAudioInterview: {
    success: () => ({ body: interview() }),
    refusals: {
      INVALID_REQUEST: () => ({ body: { ...interview(), resumeAllowed: true } }),
      NOT_FOUND: () => ({ body: { ...interview(), jobId: NOBODY } }),
      INSUFFICIENT_CREDITS: async (world) => {
        await noCredits(world);
        return { body: interview() };
      },
    },
  },
  get: { success: own, refusals: { NOT_FOUND: foreign } },
  update: change({ duration: 30 }, {}),
  addQuestion: change({ question: 'Why?' }, { question: ' ' }),
  updateQuestion: {
    success: async (world) => ({ ...(await ownQuestion(world)), body: { question: 'How?' } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await ownQuestion(world)), body: {} }),
      NOT_FOUND: async (world) => ({ ...(await unknownQuestion(world)), body: { question: 'How?' } }),
      ACCESS_DENIED: async (world) => ({ ...(await foreignQuestion(world)), body: { question: 'How?' } }),
    },
  },
  removeQuestion: { success: ownQuestion, refusals: { NOT_FOUND: unknownQuestion, ACCESS_DENIED: foreignQuestion } },
  autoGenerate: {
    success: () => ({ body: auto }),
    refusals: {
      INVALID_REQUEST: () => ({ body: { role: 'Nurse' } }),
      NOT_FOUND: () => ({ body: { ...auto, jobId: NOBODY } }),
      ...generation(() => ({ body: auto })),
    },
  },
  generateQuestions: {
    ...change(about, {}),
    refusals: {
      ...change(about, {}).refusals,
      ...generation(async (world) => ({ ...(await own(world)), body: about })),
    },
  },
  invite: {
    success: async (world) => ({ ...(await own(world)), body: invitee(world) }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await own(world)), body: { firstName: 'Ada' } }),
      DUPLICATE_INVITE: async (world) => {
        const twice = { ...(await own(world)), body: invitee(world) };
        await world.partner.assessments.invite(twice);
        return twice;
      },
      NOT_FOUND: async (world) => ({ ...(await own(world)), body: { jobCandidateId: NOBODY } }),
      ACCESS_DENIED: async (world) => ({ ...(await foreign(world)), body: invitee(world) }),
    },
  },
  inviteBulk: {
    success: async (world) => ({ ...(await own(world)), body: { candidates: [invitee(world)] } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await own(world)), body: { candidates: [] } }),
      NOT_FOUND: (world) => ({ ...unknown(), body: { candidates: [invitee(world)] } }),
      ACCESS_DENIED: async (world) => ({ ...(await foreign(world)), body: { candidates: [invitee(world)] } }),
    },
  },
  getInviteBatch: {
    success: async (world) => {
      const { params } = await own(world);
      const { data } = await world.partner.assessments.inviteBulk({ params, body: { candidates: [invitee(world)] } });
      return { params: { ...params, batchId: String(data.batchId) } };
    },
    refusals: { NOT_FOUND: async (world) => ({ params: { ...(await own(world)).params, batchId: SOMEBODY_ELSE } }) },
  },
  listCandidates: {
    success: async (world) => ({ params: { assessmentId: (await interviewOf(world, true)).assessmentId } }),
    refusals: {
      INVALID_PER_PAGE: async (world) => ({ ...(await own(world)), query: { perPage: 7 } }),
      INVALID_REQUEST: async (world) => ({ ...(await own(world)), query: { pageNumber: 0 } }),
      NOT_FOUND: foreign,
    },
  },
  getReport: results(),
  getShareLink: results(),
};

function results() {
  return {
    success: async (world: World) => ({ params: await interviewOf(world, true) }),
    refusals: {
      NOT_FOUND: async (world: World) => ({ params: { ...(await own(world)).params, submissionId: SOMEBODY_ELSE } }),
      REPORT_NOT_READY: async (world: World) => ({ params: await interviewOf(world, false) }),
    },
  };
}

/** An interview taken to its end. */
export async function interviewOf(
  world: World,
  scored: boolean,
): Promise<{ assessmentId: string; submissionId: string }> {
  const { params } = await own(world);
  const body = invitee(world);
  await world.partner.assessments.invite({ params, body });
  const who = { ...params, emailAddress: body.emailAddress };
  const { submissionId } = (await world.control.act('takeInterview', { ...who, scored })) as { submissionId: string };
  if (scored) await world.control.act('scoreInterview', { submissionId });
  return { ...params, submissionId };
}

const step = async (world: World) => ({ assessmentId: await newAssessment(world.partner), passThreshold: 50 });
const flow = async (world: World) => ({ flowName: 'Flow', steps: [await step(world)] });

async function newFlow(world: World): Promise<{ params: { id: number } }> {
  const { data } = await world.partner.assessmentFlows.create({ body: await flow(world) });
  return { params: { id: Number(data.id) } };
}

const unknownFlow = () => ({ params: { id: NOBODY } });

/** Sections 2.7, 4.7. */
export const assessmentFlowCases: Cases<'assessmentFlows'> = {
  list: {
    success: async (world) => {
      await newFlow(world);
      return {};
    },
    refusals: {},
  },
  create: {
    success: async (world) => ({ body: await flow(world) }),
    refusals: {
      INVALID_REQUEST: () => ({ body: { flowName: 'Flow', steps: [] } }),
      NOT_FOUND: () => ({ body: { flowName: 'Flow', steps: [{ assessmentId: SOMEBODY_ELSE }] } }),
    },
  },
  update: {
    success: async (world) => ({ ...(await newFlow(world)), body: { description: 'Two steps' } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await newFlow(world)), body: { steps: [await step(world)] } }),
      NOT_FOUND: () => ({ ...unknownFlow(), body: { description: 'Two steps' } }),
    },
  },
  get: {
    success: newFlow,
    refusals: { INVALID_REQUEST: () => ({ params: { id: 'abc' } }), NOT_FOUND: unknownFlow },
  },
  listCandidates: {
    success: async (world) => {
      const made = await newFlow(world);
      await world.partner.assessmentFlows.assign({ ...made, body: { email: newEmail(world) } });
      return made;
    },
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await newFlow(world)), query: { pageSize: 101 } }),
      NOT_FOUND: unknownFlow,
    },
  },
  assign: {
    success: async (world) => ({ ...(await newFlow(world)), body: { email: newEmail(world) } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ ...(await newFlow(world)), body: { firstName: 'Ada' } }),
      NOT_FOUND: async (world) => ({
        ...(await newFlow(world)),
        body: { jobCandidateId: (await newJobCandidate(world, world.other)).jobCandidateId },
      }),
    },
  },
};
