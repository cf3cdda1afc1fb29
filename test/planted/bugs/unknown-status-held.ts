import { type PlantedBug, simulation } from '../planted-bug.ts';

export const bug: PlantedBug = {
  name: 'unknown onboarding status is a verdict',
  patches: [
    {
      file: 'src/plan/plan-enrolment.ts',
      find: "  return outcome === undefined ? { verdict: 'unknown' } : held(outcome, { jobCandidateId, status });",
      replace: "  return held(outcome ?? 'ONBOARDING_FAILED', { jobCandidateId, status });",
    },
  ],
  caughtBy: simulation(/is held by ONBOARDING_FAILED, and their onboarding never was failed/, 60, '--quirks'),
};
