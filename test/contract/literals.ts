/** Request and response pairs written by hand from the specification; run over the wire by client and sandbox tests. */
import { applicationAndCustomFieldLiterals } from './literals/applications-and-custom-fields.ts';
import { assessmentAndBookingLiterals } from './literals/assessments-and-booking.ts';
import { candidateLiterals } from './literals/candidates.ts';
import type { Literal } from './literals/literal.ts';
import { onboardingAndWorkspaceLiterals } from './literals/onboarding-and-workspace.ts';
import { pipelineAndJobLiterals } from './literals/pipelines-and-jobs.ts';

export type { Literal } from './literals/literal.ts';

export const literals: readonly Literal[] = [
  ...pipelineAndJobLiterals,
  ...candidateLiterals,
  ...applicationAndCustomFieldLiterals,
  ...assessmentAndBookingLiterals,
  ...onboardingAndWorkspaceLiterals,
];

/** Path parameters of a literal by the template of its endpoint; undefined when the path is not of that template. */
export function pathParams(literal: Literal, template: string): Record<string, string> | undefined {
  const pattern = template.replace(/:(\w+)/g, '(?<$1>[^/]+)');
  const match = new RegExp(`^${pattern}$`).exec(literal.request.path);
  return match ? { ...match.groups } : undefined;
}
