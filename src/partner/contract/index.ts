/** The contract tree: the one source of client, sandbox and OpenAPI document. Operation id = path in the tree. */
import { assessmentFlows } from './assessment-flows.ts';
import { assessments } from './assessments.ts';
import { bookingSchedules, bookings } from './booking-schedules.ts';
import { campaigns, sites } from './campaigns.ts';
import { candidates } from './candidates.ts';
import { customFieldValues } from './custom-field-values.ts';
import { customFields } from './custom-fields.ts';
import type { Endpoint, ListShape } from './endpoint.ts';
import { jobCandidates } from './job-candidates.ts';
import { jobs } from './jobs.ts';
import { onboarding } from './onboarding.ts';
import { pipelines } from './pipelines.ts';
import { teams, users } from './users.ts';

export const contract = {
  pipelines,
  jobs,
  candidates,
  jobCandidates,
  customFields,
  customFieldValues,
  assessments,
  assessmentFlows,
  bookingSchedules,
  bookings,
  onboarding,
  sites,
  campaigns,
  users,
  teams,
};
export type Contract = typeof contract;

/** An endpoint as the folds see it, with any schemas. */
export type AnyEndpoint = Omit<Endpoint, 'list'> & { list?: ListShape | undefined };

/** Every endpoint of the tree, in the order of the specification. */
export function allEndpoints(): AnyEndpoint[] {
  return Object.values(contract).flatMap((section): AnyEndpoint[] => Object.values(section));
}

export { defaultOverrides, Overrides } from './overrides.ts';
export { undefinedEndpoints } from './undefined-endpoints.ts';
