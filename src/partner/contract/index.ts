import { assessmentFlows } from './assessment-flows.ts';
import { assessments } from './assessments.ts';
import { bookingSchedules, bookings } from './booking-schedules.ts';
import { campaigns, sites } from './campaigns.ts';
import { candidates } from './candidates.ts';
import { customFields, customFieldValues } from './custom-fields.ts';
import type { Endpoint, ListShape } from './endpoint.ts';
import { jobCandidates } from './job-candidates.ts';
import { jobs } from './jobs.ts';
import { onboarding } from './onboarding.ts';
import { pipelines } from './pipelines.ts';
import { teams, users } from './users.ts';

/**
 * Endpoints that the specification says exist, and shows nothing of: no method, no path, no body. They have no route
 * here, are outside the 89 and the OpenAPI document; the client refuses them and the sandbox answers 404.
 */
export interface UndefinedEndpoint {
  id: string;
  section: string;
  what: string;
}

export const undefinedEndpoints: readonly UndefinedEndpoint[] = [
  { id: 'jobs.get', section: '4.2', what: 'GET /jobs/:jobId: not shown beyond its existence' },
  { id: 'jobs.update', section: '4.2', what: 'update-job request and response: not shown beyond their existence' },
  { id: 'bookings.reschedule', section: '4.8', what: 'reschedule (takes scheduledStartAt): no method and path' },
  { id: 'bookings.cancel', section: '4.8', what: 'cancel: no method and path' },
  { id: 'bookings.checkIn', section: '4.8', what: 'attendance check-in: no method and path' },
  { id: 'bookings.markNoShow', section: '4.8', what: 'attendance no-show: no method and path' },
  { id: 'campaigns.update', section: '4.10', what: 'update endpoint: not shown' },
];

/** The contract tree: the one source of client, sandbox and OpenAPI document. Operation id = path in the tree. */

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

export { defaultOverrides, Overrides } from './assumptions.ts';
