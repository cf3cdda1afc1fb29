/** Sections 2.9, 3 and 4.9: flows, enrolments that cost a credit each, and the states an enrolment goes through. */
import assert from 'node:assert/strict';
import type { Company, Json } from './in-memory-sandbox.ts';
import { accepted, chosen, type Pick } from './model-run.ts';

export interface Flow {
  id: string;
  active: boolean;
  /** Its active steps in order. */
  steps: string[];
}

interface Enrolment {
  id: string;
  flowId: string;
  email: string;
  externalRef: string | null;
  overallStatus: string;
  steps: Array<{ stepKey: string; status: string }>;
  external: Record<string, string>;
}

export interface Onboarding {
  flows: Flow[];
  enrolments: Enrolment[];
  credits: number;
  foreign: { flowId: string; onboardingCandidateId: string };
}

const NOBODY = '6c7b8a90-0000-4000-8000-000000000000';

export const TERMINAL = new Set(['completed', 'rejected', 'failed', 'terminated']);

/** O17; with one step submitted and another only in work, either of two is right. */
export function overallOf(states: readonly string[]): string[] {
  const submitted = states.filter((status) => status === 'submitted' || status === 'verified').length;
  if (states.every((status) => status === 'verified')) return ['final_handoff'];
  if (submitted === states.length) return ['under_review'];
  const inWork = states.includes('in_progress') ? ['in_progress'] : [];
  return submitted > 0 ? ['partial_submission', ...inWork] : inWork;
}

/** Told once when it changed, and as completed besides. */
export function becomes(company: Company, enrolment: Enrolment, status: string): void {
  const names = company.events().map(([name]) => name);
  const right = enrolment.overallStatus === status ? [] : ['onboarding.candidate.status_changed'];
  if (status === 'completed') right.push('onboarding.candidate.completed');
  assert.deepEqual(names, right);
  enrolment.overallStatus = status;
}

export function readOne(company: Company, id: string): Json {
  return accepted(company.api('GET', `/onboarding/candidates/${id}`), 200, 'an enrolment');
}

export function flowId(model: Onboarding, which: Pick): string {
  return chosen(model.flows, which)?.id ?? (which.kind === 'foreign' ? model.foreign.flowId : NOBODY);
}

export function idOf(model: Onboarding, which: Pick): string {
  return (
    chosen(model.enrolments, which)?.id ?? (which.kind === 'foreign' ? model.foreign.onboardingCandidateId : NOBODY)
  );
}

let strangers = 0;

export function begin(company: Company, foreign: Company): Onboarding {
  const [theirs] = foreign.api('GET', '/onboarding/flows').body.data.flows;
  strangers += 1;
  foreign.act('setCredits', { onboardingCredits: 1 });
  const stranger = { firstName: 'X', lastName: 'Y', email: `x${strangers}@example.org` };
  const them = foreign.api('POST', `/onboarding/flows/${theirs.flowId}/candidates`, stranger).body.data;
  company.act('createOnboardingFlow', {
    name: 'Three steps, one off',
    steps: [
      { stepKey: 'doc_collection' },
      { stepKey: 'pre_employment_medical_test', isActive: false },
      { stepKey: 'background_verification' },
    ],
  });
  company.act('setCredits', { onboardingCredits: 5 });
  const { flows } = company.api('GET', '/onboarding/flows').body.data;
  return {
    flows: flows.map((flow: Json) => ({
      id: flow.flowId,
      active: true,
      steps: flow.steps.filter((one: Json) => one.isActive).map((one: Json) => one.stepKey),
    })),
    enrolments: [],
    credits: 5,
    foreign: { flowId: theirs.flowId, onboardingCandidateId: them.onboardingCandidateId },
  };
}

export function compare(model: Onboarding, company: Company): void {
  assert.equal(company.act('showCompany').onboardingCredits, model.credits);
  for (const enrolment of model.enrolments) {
    const shown = readOne(company, enrolment.id);
    assert.deepEqual(
      [shown.flowId, shown.externalRef ?? null, shown.overallStatus],
      [enrolment.flowId, enrolment.externalRef, enrolment.overallStatus],
    );
    assert.deepEqual(
      shown.stepProgress.map((one: Json) => [one.stepKey, one.status]),
      enrolment.steps.map((one) => [one.stepKey, one.status]),
    );
    assert.deepEqual({ ...shown.externalStatus, ...enrolment.external }, { ...shown.externalStatus });
  }
}
