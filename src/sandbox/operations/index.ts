/** The operation tree: it mirrors the contract's ids. A family's file is added here with one line. */
import { assessmentFlows } from './assessment-flows.ts';
import { assessments } from './assessments.ts';
import { bookingSchedules, bookings } from './booking.ts';
import { campaigns, sites } from './campaigns.ts';
import { candidates } from './candidates.ts';
import { customFieldValues } from './custom-field-values.ts';
import { customFields } from './custom-fields.ts';
import { jobCandidates } from './job-candidates.ts';
import { jobs } from './jobs.ts';
import { onboarding } from './onboarding.ts';
import type { Operation, OperationTree } from './operation.ts';
import { pipelines } from './pipelines.ts';
import { teams, users } from './workspace.ts';

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

/** What the sandbox plays, by operation id. */
export const operations: ReadonlyMap<string, Operation<unknown>> = new Map(
  Object.entries(tree).flatMap(([section, family]) =>
    Object.entries(family).map(
      ([name, operation]) => [`${section}.${name}`, operation as unknown as Operation<unknown>] as const,
    ),
  ),
);
