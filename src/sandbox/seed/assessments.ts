import type { Context } from '../context.ts';
import { attachApplication } from '../records/applications.ts';
import { assign, createAssessmentFlow, currentInvite, listAssessmentFlows } from '../records/assessment-flows.ts';
import { addQuestion, bucketsOf, createAssessment } from '../records/assessments.ts';
import { findCandidate } from '../records/candidates.ts';
import { finishInterview, scoreInterview, startInterview } from '../records/interviews.ts';
import { type Invite, personOf } from '../records/invites.ts';
import { findJobCandidate, jobCandidateIdsIn } from '../records/job-candidates.ts';
import { type Job, stageOfType } from '../records/pipelines.ts';

const QUESTIONS = [
  'What made you apply?',
  'Tell us about a colleague who was hard to work with.',
  'Which part of your last job would you have given away?',
  'What do you do when two things are urgent at once?',
];

/** Two assessments and a flow through both: enough to invite and to assign at once. */
export function seedAssessments(ctx: Context): void {
  const [first, second] = [
    seedOne(ctx, 'First interview', 'AI_AUDIO_INTERVIEW', 0),
    seedOne(ctx, 'Meet the team', 'AI_VIDEO_INTERVIEW', 2),
  ];
  createAssessmentFlow(ctx, {
    flowName: 'Two interviews',
    description: 'A first interview, then the team.',
    steps: [
      { assessmentId: first, passThreshold: 50, name: 'First' },
      { assessmentId: second, passThreshold: 60, name: 'Team' },
    ],
  });
}

function seedOne(ctx: Context, testName: string, assessmentType: string, maxResumeCount: number): string {
  const fields = {
    testName,
    assessmentType,
    hiringForRole: 'Colleague',
    purposeOfInterview: 'Find out who fits the role and the team.',
    duration: 12,
    aiLanguage: 'english',
    skills: ['communication', 'initiative'],
    buckets: bucketsOf(undefined),
    resumeAllowed: maxResumeCount > 0,
    maxResumeCount: maxResumeCount > 0 ? maxResumeCount : null,
    isEmailVerificationRequired: true,
    shouldEvaluateCEFR: false,
  };
  const { id } = createAssessment(ctx, { fields });
  for (const question of QUESTIONS) addQuestion(ctx, id, { question, type: 'SUBJECTIVE' });
  return id;
}

/**
 * The history of some of the first people: two came through the hosted page, one without consent; three were assigned
 * to the flow, one of whom was scored, one has ended and waits, one has not begun. Adds nobody and draws no random
 * number.
 */
export function seedOutcomes(
  ctx: Context,
  { jobs, jobCandidateIds }: { jobs: readonly Job[]; jobCandidateIds: readonly number[] },
): void {
  seedApplications(ctx, jobs[0]);
  const [flow] = listAssessmentFlows(ctx);
  if (flow === undefined) return;
  const assigned = jobCandidateIds.slice(0, 3).map((jobCandidateId) => {
    const { candidate } = assign(ctx, flow, personOf(ctx, { jobCandidateId }), {});
    return currentInvite(ctx, candidate);
  });
  const [scored] = assigned.slice(0, 2).map((invite) => takeQuietly(ctx, invite));
  if (scored !== undefined) scoreInterview(ctx, { submissionId: scored });
}

function takeQuietly(ctx: Context, invite: Invite | undefined): string | undefined {
  if (invite === undefined) return undefined;
  const { id } = startInterview(ctx, invite);
  return finishInterview(ctx, id, { scored: false }).id;
}

function seedApplications(ctx: Context, job: Job | undefined): void {
  const stage = job === undefined ? undefined : stageOfType(ctx, job.pipelineId, 'APPLIED');
  const applied = stage === undefined ? [] : jobCandidateIdsIn(ctx, stage.id).slice(0, 2);
  applied.forEach((id, index) => {
    const person = findCandidate(ctx, findJobCandidate(ctx, id).candidateId);
    attachApplication(ctx, id, person, {
      consent: index === 0,
      resume: true,
      application: {
        currentJobTitle: person['currentJobTitle'],
        company: person['currentCompany'],
        noticePeriod: '1 month',
        isWillingToRelocate: index === 0,
        screeningQuestionAnswer: [{ question: 'When could you start?', answer: 'Next month' }],
        otherFiles: [{ name: 'References' }],
      },
    });
  });
}
