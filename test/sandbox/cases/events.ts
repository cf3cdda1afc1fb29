import type { EventName } from '../../../src/partner/contract/events.ts';
import { interviewOf } from './assessments.ts';
import { applied } from './job-candidates.ts';
import { newOffer } from './onboarding.ts';
import {
  invitee,
  newAssessment,
  newCandidate,
  newEmail,
  newEnrolment,
  newJob,
  newJobCandidate,
  profile,
} from './records.ts';
import type { World } from './world.ts';

/** Makes one event happen; the answer is what its data must hold, so that no other of that name is taken for it. */
type Happening = (world: World) => Promise<Record<string, unknown>>;

const pdf = (world: World) => `https://files.example.com/resume-${String(world.next())}.pdf`;

/** A batch of resumes for a new job. */
async function upload({ partner }: World, url: string) {
  const job = await newJob(partner);
  const { data } = await partner.jobCandidates.uploadResumes({ body: { jobId: job.id, resumeURLs: [url] } });
  return { jobId: Number(job.id), batchId: data.batchId };
}

/** Somebody added with a resume to parse. */
async function addWithResume(world: World, resume: string) {
  const { data } = await world.partner.candidates.add({ body: { ...profile(world), shouldParseResume: true, resume } });
  return { candidateId: Number(data.id) };
}

async function dashboardJob({ control }: World) {
  return (await control.act('createJob', { job: { title: 'Cook' } })) as unknown as { id: number };
}

async function moved(world: World, stageType: 'SCREEN' | 'HIRED') {
  const { jobId, jobCandidateId, candidateId } = await newJobCandidate(world);
  await world.control.act('move', { jobCandidateIds: [jobCandidateId], stageType });
  return { jobId, jobCandidateIds: [jobCandidateId], candidateIds: [candidateId] };
}

async function enrolled(world: World) {
  return { onboardingCandidateId: (await newEnrolment(world)).onboardingCandidateId };
}

async function finished(world: World) {
  const who = await enrolled(world);
  await world.control.act('finishOnboarding', who);
  return who;
}

/** Section 6, row by row. */
export const happenings: Record<EventName, Happening> = {
  'resume.bulk_upload_parse.started': async (world) => upload(world, pdf(world)),
  'resume.bulk_upload_parse.completed': async (world) => ({ ...(await upload(world, pdf(world))), successCount: 1 }),
  'resume.bulk_upload_parse.failed': async (world) => {
    const { jobId, batchId } = await upload(world, pdf(world));
    await world.control.act('setJobStatus', { jobId, status: 'DELETED' });
    return { batchId };
  },
  'resume.single_parse.completed': (world) => addWithResume(world, pdf(world)),
  'resume.single_parse.failed': (world) => addWithResume(world, 'https://files.example.com/resume.png'),
  'job.created': async (world) => ({ jobId: (await dashboardJob(world)).id, title: 'Cook' }),
  'job.updated': async (world) => {
    const { id: jobId } = await dashboardJob(world);
    await world.control.act('editJob', { jobId, fields: { title: 'Head cook' } });
    return { jobId, updatedFields: ['title'] };
  },
  'job.status_changed': async (world) => {
    const { id: jobId } = await dashboardJob(world);
    await world.control.act('setJobStatus', { jobId, status: 'INACTIVE' });
    return { jobId, status: 'INACTIVE', previousStatus: 'ACTIVE' };
  },
  'candidate.added_to_job': async (world) => {
    const { jobId, jobCandidateId } = await newJobCandidate(world);
    return { jobId, jobCandidateIds: [jobCandidateId], count: 1 };
  },
  'candidate.stage_changed': (world) => moved(world, 'SCREEN'),
  'candidate.hired': (world) => moved(world, 'HIRED'),
  'candidate.rejected': async (world) => {
    const { jobCandidateId } = await newJobCandidate(world);
    await world.control.act('reject', { jobCandidateIds: [jobCandidateId], reason: 'Withdrew' });
    return { jobCandidateIds: [jobCandidateId], jobCandidateId, reason: 'Withdrew' };
  },
  'candidate.removed_from_job': async (world) => {
    const { jobId, jobCandidateId } = await newJobCandidate(world);
    await world.partner.jobCandidates.remove({ params: { jobCandidateId } });
    return { jobId, jobCandidateIds: [jobCandidateId] };
  },
  'candidate.updated': async (world) => {
    const candidateId = await newCandidate(world);
    await world.partner.candidates.update({ params: { candidateId }, body: { city: 'Bergen' } });
    return { candidateId, scope: 'profile', updatedFields: ['city'] };
  },
  'candidate.applied': (world) => applied(world, true),
  'job.candidate.score.completed': async (world) => {
    const { jobId, jobCandidateId } = await newJobCandidate(world);
    return { jobId, jobCandidateId };
  },
  'job.candidate.score.failed': async (world) => {
    const { id: jobId } = await newJob(world.partner);
    await world.control.act('setCredits', { credits: 0 });
    const { jobCandidateId } = await world.control.act('apply', {
      jobId: Number(jobId),
      candidate: { email: newEmail(world) },
    });
    return { jobCandidateId };
  },
  'job.candidates.rescored': async (world) => {
    const { jobId } = await newJobCandidate(world);
    const { data } = await world.partner.jobCandidates.rescore({ body: { jobId } });
    return { jobId, rescoreId: data.rescoreId, status: 'completed' };
  },
  'assessment.ready': async ({ partner }) => {
    const body = { purpose: 'To learn how the person works', role: 'Nurse', duration: 15 };
    const { data } = await partner.assessments.autoGenerate({ body });
    return { assessmentId: data.assessmentId, questionCount: 5 };
  },
  'interview.started': (world) => interviewOf(world, true),
  'interview.scoring_completed': async (world) => {
    const { submissionId } = await interviewOf(world, true);
    return { submissionId };
  },
  'interview.ended': async (world) => {
    const { submissionId } = await interviewOf(world, false);
    return { submissionId };
  },
  'assessment.bulk_invite.completed': async (world) => {
    const params = { assessmentId: await newAssessment(world.partner) };
    const { data } = await world.partner.assessments.inviteBulk({ params, body: { candidates: [invitee(world)] } });
    return { batchId: data.batchId, totalCount: 1 };
  },
  'onboarding.candidate.enrolled': enrolled,
  'onboarding.candidate.status_changed': async (world) => {
    const params = await enrolled(world);
    await world.partner.onboarding.terminate({ params });
    return { ...params, overallStatus: 'terminated' };
  },
  'onboarding.documents.verified': finished,
  'onboarding.report.ready': finished,
  'onboarding.offer.completed': async (world) => {
    const offerId = await newOffer(world);
    await world.control.act('completeOffer', { offerId });
    return { offerId };
  },
  'onboarding.candidate.completed': finished,
};
