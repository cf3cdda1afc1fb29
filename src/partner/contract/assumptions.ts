/**
 * Every choice made where the specification leaves a question open. Listed by `doctor` and as `x-assumed` in the
 * OpenAPI document. Keys are the questions' ids; endpoints name them in `assumed`.
 */
import { assessmentsAndBooking } from './assumptions/assessments-and-booking.ts';
import type { Assumption } from './assumptions/assumption.ts';
import { candidateReadings } from './assumptions/candidates.ts';
import { everywhere } from './assumptions/everywhere.ts';
import { onboardingAndCampaigns } from './assumptions/onboarding-and-campaigns.ts';
import { pipelinesAndJobs } from './assumptions/pipelines-and-jobs.ts';

export const assumptions = {
  ...everywhere,
  ...pipelinesAndJobs,
  ...candidateReadings,
  ...assessmentsAndBooking,
  ...onboardingAndCampaigns,
} as const satisfies Record<string, Assumption>;
