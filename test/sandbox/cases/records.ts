import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import type { World } from './world.ts';

/** Fresh records for one case each, so that no case depends on what another left. */

/** An id in the ranges of nobody. */
export const NOBODY = 999_999_999;
export const SOMEBODY_ELSE = '00000000-0000-4000-8000-000000000000';

export function newEmail(world: World): string {
  return `person.${String(world.next())}@example.com`;
}

export async function newJob(client: PartnerClient, status: 'ACTIVE' | 'DRAFT' = 'ACTIVE') {
  return client.jobs.create({ body: { title: 'Nurse', city: 'Oslo', state: '', country: 'Norway', status } });
}

/** Somebody in a new job of the first company. */
export async function newJobCandidate(world: World, client = world.partner) {
  const job = await newJob(client);
  const { data } = await client.candidates.add({ body: { ...profile(world), jobId: job.id } });
  return {
    jobId: Number(job.id),
    pipelineId: Number(job.pipelineId),
    candidateId: Number(data.id),
    jobCandidateId: Number(data.jobCandidateId),
  };
}

export function profile(world: World) {
  const place = { city: 'Oslo', country: 'Norway', educations: [], workExperiences: [] };
  return { email: newEmail(world), firstName: 'Ada', lastName: 'Lovelace', shouldParseResume: false, ...place };
}

export async function newCandidate(world: World, client = world.partner): Promise<number> {
  return Number((await client.candidates.add({ body: profile(world) })).data.id);
}

/** A new pipeline with its stages by type. */
export async function newPipeline(client: PartnerClient) {
  const { data } = await client.pipelines.create({ body: { name: 'Pipeline' } });
  const full = await client.pipelines.get({ params: { pipelineId: data.id } });
  const stage = (type: string): number => Number(full.data.stages.find((one) => one.type === type)?.id);
  return { pipelineId: Number(data.id), stage, stages: full.data.stages };
}

/** The stages, by type, of the pipeline that new jobs get. */
export async function stageOfJobs(client: PartnerClient, type: string): Promise<number> {
  const { jobs } = await client.jobs.list();
  const { pipelineId } = jobs[0] as { pipelineId: number };
  const { data } = await client.pipelines.get({ params: { pipelineId } });
  return Number(data.stages.find((one) => one.type === type)?.id);
}

export async function newField(
  client: PartnerClient,
  fieldType: 'text' | 'multi-select' | 'number' | 'checkbox' = 'text',
) {
  const options = fieldType === 'multi-select' ? { options: ['A', 'B'] } : {};
  const made = await client.customFields.create({
    body: { entityType: 'candidate', fieldLabel: 'Label', fieldType, ...options },
  });
  return String(made.data.id);
}

/** A value of a new field on a new candidate. */
export async function newValue(world: World, client = world.partner) {
  const customFieldId = await newField(client);
  const entityId = await newCandidate(world, client);
  const made = await client.customFieldValues.upsert({
    body: { customFieldId, entityType: 'candidate', entityId, value: 'kept' },
  });
  return { customFieldId, entityId, valueId: Number((made.data as { id: string }).id) };
}

export async function flowOf(client: PartnerClient): Promise<string> {
  const { data } = await client.onboarding.listFlows();
  return String((data['flows'] as { flowId: string }[])[0]?.flowId);
}

export function enrolment(world: World) {
  return { firstName: 'Ada', lastName: 'Lovelace', email: newEmail(world), externalRef: `ref-${String(world.next())}` };
}

export async function newEnrolment(world: World, client = world.partner) {
  const body = enrolment(world);
  const made = await client.onboarding.enrol({ params: { flowId: await flowOf(client) }, body });
  return { ...body, onboardingCandidateId: String(made.data.onboardingCandidateId) };
}

export function interview() {
  return { title: 'Interview', hiringForRole: 'Nurse', purposeOfInterview: 'To learn how the person works' };
}

export async function newAssessment(client: PartnerClient): Promise<string> {
  return String((await client.assessments.createAudioInterview({ body: interview() })).data.assessmentId);
}

export async function newQuestion(client: PartnerClient) {
  const assessmentId = await newAssessment(client);
  const made = await client.assessments.addQuestion({ params: { assessmentId }, body: { question: 'Why?' } });
  return { assessmentId, questionId: String(made.data.id) };
}

export function invitee(world: World) {
  return { firstName: 'Ada', lastName: 'Lovelace', emailAddress: newEmail(world) };
}
