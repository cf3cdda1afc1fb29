import { applied } from '../sandbox/cases/job-candidates.ts';
import type { Loose } from '../sandbox/cases/loose.ts';
import {
  newAssessment,
  newEmail,
  newField,
  newJob,
  newJobCandidate,
  newPipeline,
  stageOfJobs,
} from '../sandbox/cases/records.ts';
import type { World } from '../sandbox/cases/world.ts';

/** What a pair needs beside what its operation's own case makes: by the pair's id. */
export const settings: Record<string, (world: World) => Loose | Promise<Loose>> = {
  'an existing stage is updated': async ({ partner }) => {
    const { pipelineId, stage } = await newPipeline(partner);
    return { body: { pipelineId, stageId: stage('SCREEN') } };
  },
  'a candidate whose e-mail is known': async (world) => ({ body: { email: (await known(world)).email } }),
  'a candidate with the jobs it is in': async (world) => ({
    params: { candidateId: (await known(world)).candidateId },
  }),
  'an updated candidate': async (world) => ({ params: { candidateId: (await known(world)).candidateId } }),
  'candidates by id, as text and number': async (world) => {
    const { candidateId } = await known(world);
    return { body: { candidateIds: [String(candidateId), candidateId] } };
  },
  'job candidates by id': async (world) => ({ body: { jobCandidateIds: [(await known(world)).jobCandidateId] } }),
  'an updated application': async (world) => ({ params: { jobCandidateId: (await known(world)).jobCandidateId } }),
  'people hired, whatever the case of the stage type': async (world) => {
    const { jobCandidateId } = await known(world);
    const stageId = await stageOfJobs(world.partner, 'HIRED');
    await world.partner.jobCandidates.move({ params: { jobCandidateId }, body: { stageId } });
    return {};
  },
  'an application with consent': async (world) => {
    const application = {
      screeningQuestionAnswer: [{ question: 'When?', answer: 'Now' }],
      otherFiles: [{ name: 'cover.pdf', url: 'https://files.example.com/cover.pdf' }],
    };
    return { params: await applied(world, true, application) };
  },
  'a nested value of a work experience': async (world) => {
    const { candidateId } = await known(world);
    const { data } = await world.partner.candidates.get({ params: { candidateId } });
    const parentEntityId = (data.workExperiences?.[0] as { id?: number | string } | undefined)?.id;
    const customFieldId = await newField(world.partner, 'checkbox');
    return { body: { customFieldId, entityId: candidateId, parentEntityId } };
  },
  'values set in bulk, a multi-select stored as JSON text': async (world) => ({
    body: [
      { customFieldId: await newField(world.partner, 'multi-select'), entityId: (await known(world)).candidateId },
    ],
  }),
  'an assessment generated in the background': async ({ partner }) => ({
    body: { jobId: Number((await newJob(partner)).id) },
  }),
  'a candidate invited twice': async (world) => {
    const { jobCandidateId } = await newJobCandidate(world);
    const input = { params: { assessmentId: await newAssessment(world.partner) }, body: { jobCandidateId } };
    await world.partner.assessments.invite(input);
    return input;
  },
};

/** Lists that a pair fills and that stay as they were sent: the sandbox parses no documents (RESUMES). */
export const empty: Record<string, readonly string[]> = {
  'a candidate added to a job': ['majors', 'languages', 'educations', 'workExperiences'],
};

/** Pairs that show a reading which the sandbox does not play, as it plays them; the assumption's key in brackets. */
export const asPlayed: Record<string, (body: unknown) => unknown> = {
  // B7: locations and questions come in the envelope; the bare array is read by the client.
  'locations as a bare list': (body) => ({ status: 'success', data: body }),
  // 4.4: the profile stands once in an item of the stage listings, beside the job candidate.
  'people hired, whatever the case of the stage type': (body) => {
    const { data, ...rest } = body as { data: { jobCandidateDetails: Record<string, unknown> }[] };
    const once = ({ candidate_details: _profile, ...details }: Record<string, unknown>) => details;
    return { ...rest, data: data.map((item) => ({ ...item, jobCandidateDetails: once(item.jobCandidateDetails) })) };
  },
  // 4.6: only the single read is "assessment with questions".
  'the first page of assessments': (body) =>
    JSON.parse(JSON.stringify(body).replaceAll(',"questions":[]', '')) as unknown,
};

/** Somebody in a job whose profile has an entry in every list, and a custom field value. */
async function known(world: World): Promise<{ email: string; candidateId: number; jobCandidateId: number }> {
  const job = await newJob(world.partner);
  const body = {
    email: newEmail(world),
    firstName: 'Mara',
    lastName: 'Lim',
    jobId: Number(job.id),
    shouldParseResume: false,
    city: 'Singapore',
    country: 'Singapore',
    skills: ['Triage'],
    majors: ['Nursing'],
    languages: ['English'],
    educations: [{ degree: 'BSc', field: 'Nursing', institution: 'NUS' }],
    workExperiences: [{ title: 'Nurse', company: 'Clinic', duration: '2 years' }],
  };
  const { data } = await world.partner.candidates.add({ body });
  const customFieldId = await newField(world.partner);
  await world.partner.customFieldValues.upsert({
    body: { customFieldId, entityType: 'candidate', entityId: data.id, value: 'kept' },
  });
  return { email: body.email, candidateId: Number(data.id), jobCandidateId: Number(data.jobCandidateId) };
}
