import type { Context } from '../context.ts';
import { findAssessmentFlow } from '../records/assessment-flows/assessment-flows.ts';
import { requireQuestion } from '../records/assessments/assessment-questions.ts';
import { findAssessmentToChange } from '../records/assessments/assessments.ts';
import { findSchedule } from '../records/booking/booking-schedules.ts';
import { findCampaign } from '../records/campaigns/campaigns.ts';
import { findCandidate } from '../records/candidates/candidates.ts';
import { findCustomField } from '../records/custom-fields/custom-fields.ts';
import { findJobCandidate } from '../records/job-candidates/job-candidates.ts';
import { findEnrolment } from '../records/onboarding/enrolments.ts';
import { findFlow } from '../records/onboarding/onboarding-flows.ts';
import { findPipeline, findStage } from '../records/pipelines/pipelines.ts';

/**
 * A record that is not there, or is another company's, is refused before its body is read (G26, assumed): path
 * parameter to the function that throws. A family adds the parameters of its own paths.
 */
export const resourceChecks: Record<string, (ctx: Context, id: never) => unknown> = {
  pipelineId: findPipeline,
  stageId: findStage,
  candidateId: findCandidate,
  jobCandidateId: findJobCandidate,
  customFieldId: findCustomField,
  flowId: findFlow,
  onboardingCandidateId: findEnrolment,
  bookingScheduleId: findSchedule,
  campaignId: findCampaign,
  // Whatever has a body changes the assessment (A10).
  assessmentId: findAssessmentToChange,
  questionId: requireQuestion,
  // Only assessment flows call their path parameter so.
  id: findAssessmentFlow,
};
