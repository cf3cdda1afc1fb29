import {
  assessmentFlows,
  assessments,
  bookingSchedules,
  bookings,
  campaigns,
  sites,
} from './assessments-and-booking.ts';
import { onboarding } from './onboarding.ts';
import type { Operation, OperationTree } from './operation.ts';
import {
  candidates,
  customFields,
  customFieldValues,
  jobCandidates,
  jobs,
  pipelines,
  teams,
  users,
} from './recruiting.ts';

const tree = {
  pipelines,
  jobs,
  candidates,
  jobCandidates,
  customFields,
  customFieldValues,
  assessments,
  assessmentFlows,
  onboarding,
  bookingSchedules,
  bookings,
  sites,
  campaigns,
  users,
  teams,
} satisfies OperationTree;

/** The sandbox's operations, by operation id. */
export const operations: ReadonlyMap<string, Operation<unknown>> = new Map(
  Object.entries(tree).flatMap(([section, family]) =>
    Object.entries(family).map(
      ([name, operation]) => [`${section}.${name}`, operation as unknown as Operation<unknown>] as const,
    ),
  ),
);
