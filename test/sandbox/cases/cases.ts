import type { Contract } from '../../../src/partner/contract/index.ts';
import { assessmentCases, assessmentFlowCases } from './assessments.ts';
import { bookingCases, bookingScheduleCases } from './booking.ts';
import { campaignCases, siteCases, teamCases, userCases } from './campaigns-and-workspace.ts';
import type { Case, Cases } from './case.ts';
import { customFieldCases, customFieldValueCases } from './custom-fields.ts';
import { jobCandidateCases } from './job-candidates.ts';
import { candidateCases, jobCases } from './jobs-and-candidates.ts';
import type { Loose } from './loose.ts';
import { onboardingCases } from './onboarding.ts';
import { pipelineCases } from './pipelines.ts';
import type { World } from './world.ts';

const tree: { [Section in keyof Contract]: Cases<Section> } = {
  pipelines: pipelineCases,
  jobs: jobCases,
  candidates: candidateCases,
  jobCandidates: jobCandidateCases,
  customFields: customFieldCases,
  customFieldValues: customFieldValueCases,
  assessments: assessmentCases,
  assessmentFlows: assessmentFlowCases,
  bookingSchedules: bookingScheduleCases,
  bookings: bookingCases,
  onboarding: onboardingCases,
  sites: siteCases,
  campaigns: campaignCases,
  users: userCases,
  teams: teamCases,
};

/** A case whose endpoint's types are forgotten. */
export interface AnyCase extends Omit<Case, 'success'> {
  success: (world: World) => Loose | Promise<Loose>;
}

/** Every case by operation id. */
export const cases: ReadonlyMap<string, AnyCase> = new Map(
  Object.entries(tree).flatMap(([section, family]) =>
    Object.entries(family).map(([name, one]) => [`${section}.${name}`, one as unknown as AnyCase] as const),
  ),
);
