import { describe, expect, test } from 'vitest';
import { type Decisions, decide, undecided } from '../../src/hire/answers.ts';
import {
  adoptable,
  type Enrolment,
  enrolmentRequest,
  judgeDuplicate,
  judgeRefusedEnrolment,
  planEnrolment,
} from '../../src/plan/plan-enrolment.ts';

const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const ada = { email: 'ada@acme.example', firstName: 'Ada', lastName: 'Lovelace' };
const into = { flowId: '9', reference: 'hirebridge:5012:1' };
const enrolment = (onboardingCandidateId: string, status = 'not_started'): Enrolment => ({
  onboardingCandidateId,
  status,
});

describe('how the onboarding begins', () => {
  const flow = { flow: '9' };
  const enrolled = { kind: 'enrol', flowId: '9' };
  const adopted = { kind: 'adopt', onboardingCandidateId: 'oc-7' };
  const skipped = { kind: 'skip' };

  test.each<[string, 'skip' | { flow: string }, Partial<Decisions>, unknown]>([
    ['nothing decided: into the tenant’s flow', flow, {}, enrolled],
    ['a tenant without onboarding', 'skip', {}, skipped],
    ['a person skips it for this hire', flow, { skipOnboarding: true }, skipped],
    ['a person named the enrolment', flow, { adopt: 'oc-7' }, adopted],
    ['a person named the enrolment at a tenant without onboarding', 'skip', { adopt: 'oc-7' }, adopted],
    ['to skip goes before an enrolment named', flow, { adopt: 'oc-7', skipOnboarding: true }, skipped],
    ['going on without the onboarding does not undo the enrolment', flow, { createAnyway: true }, enrolled],
    ['what was decided about the employee does not matter yet', flow, { link: '7', person: 'transfer' }, enrolled],
  ])('%s', (_what, onboarding, decisions, expected) => {
    expect(planEnrolment(onboarding, { ...undecided, ...decisions })).toEqual(expected);
  });

  test('re-enrol after adopt enrols anew instead of adopting the old one again', () => {
    const answer = (word: string, argument?: string) => ({ answer: word, argument, details: {} });
    expect(planEnrolment(flow, decide([answer('adopt', 'oc-7')]))).toEqual(adopted);
    expect(planEnrolment(flow, decide([answer('adopt', 'oc-7'), answer('re-enrol')]))).toEqual(enrolled);
  });
});

describe('what a request is made of', () => {
  test('flow, reference and person', () => {
    expect(enrolmentRequest(ref, into, ada)).toEqual({ ...into, ...ada });
  });

  test('nothing else of the person’s record', () => {
    expect(enrolmentRequest(ref, into, { ...ada, phone: '1' } as typeof ada)).toEqual({ ...into, ...ada });
  });

  test.each<[string, object | null | undefined, string[]]>([
    ['no record at all', undefined, ['email', 'firstName', 'lastName']],
    ['an empty record', null, ['email', 'firstName', 'lastName']],
    ['no e-mail', { ...ada, email: null }, ['email']],
    ['an empty first name', { ...ada, firstName: '' }, ['firstName']],
    ['no last name', { email: ada.email, firstName: 'Ada' }, ['lastName']],
    ['two are missing', { email: ada.email }, ['firstName', 'lastName']],
    ['an e-mail that is no text', { ...ada, email: 7 }, ['email']],
  ])('%s: nothing is requested, and the fields are named', (_what, person, fields) => {
    const request = () => enrolmentRequest(ref, into, person);
    expect(request).toThrow(expect.objectContaining({ code: 'ENROLMENT_INCOMPLETE', action: 'reject' }));
    expect(request).toThrow(expect.objectContaining({ details: { fields } }));
    expect(request).toThrow(`Job candidate 5012 cannot be enrolled: ${fields.join(', ')} is empty`);
  });

  test('the refusal quotes nothing of the person', () => {
    const request = () => enrolmentRequest(ref, into, { ...ada, lastName: '' });
    expect(request).not.toThrow(/ada/i);
    expect(request).toThrow(/lastName is empty/);
  });
});

describe('enrolments that carry our reference', () => {
  test.each<[string, Enrolment[], Enrolment | undefined]>([
    ['none', [], undefined],
    ['one is ours', [enrolment('oc-7')], enrolment('oc-7')],
    ['one that has ended is still ours', [enrolment('oc-7', 'terminated')], enrolment('oc-7', 'terminated')],
    ['several prove nothing', [enrolment('oc-7'), enrolment('oc-8')], undefined],
  ])('%s', (_what, hits, expected) => {
    expect(adoptable(hits)).toEqual(expected);
  });

  test.each<[string, Enrolment[]]>([
    ['by an enrolment that is not ours', []],
    ['by one of several', [enrolment('oc-7'), enrolment('oc-8')]],
  ])('a duplicate %s is a question to a person', (_what, hits) => {
    expect(judgeDuplicate(ref, hits)).toMatchObject({
      verdict: 'hold',
      hold: { code: 'ENROLLED_ELSEWHERE', details: { jobCandidateId: '5012' } },
    });
  });

  test('a duplicate by our own enrolment is that enrolment', () => {
    expect(judgeDuplicate(ref, [enrolment('oc-7')])).toEqual(enrolment('oc-7'));
  });
});

describe('a refused enrolment', () => {
  const credits = 'INSUFFICIENT_ONBOARDING_CREDITS';

  test.each<[string, string, Record<string, unknown> | undefined, unknown]>([
    [
      'no credits, with both amounts',
      credits,
      { requiredCredits: 1, availableCredits: 0 },
      { kind: 'no-credits', required: 1, available: 0 },
    ],
    ['no credits, one amount', credits, { requiredCredits: 2 }, { kind: 'no-credits', required: 2, available: null }],
    ['no credits, no amounts', credits, {}, { kind: 'no-credits', required: null, available: null }],
    ['no credits, a body nobody can read', credits, undefined, { kind: 'no-credits', required: null, available: null }],
    [
      'no credits, an amount that is no number',
      credits,
      { requiredCredits: '1', availableCredits: null },
      { kind: 'no-credits', required: null, available: null },
    ],
    ['enrolled already', 'DUPLICATE_ENROLLMENT', undefined, { kind: 'duplicate' }],
    ['anything else', 'VALIDATION_ERROR', { email: 'invalid' }, { kind: 'other' }],
    ['amounts under another code', 'FORBIDDEN', { requiredCredits: 1 }, { kind: 'other' }],
  ])('%s', (_what, code, details, expected) => {
    expect(judgeRefusedEnrolment({ code, status: undefined, details })).toEqual(expected);
  });
  test.each<[string, number, string]>([
    ['a 402 without a code that we know', 402, 'no-credits'],
    ['another status without a code that we know', 403, 'other'],
  ])('%s', (_what, status, kind) => {
    expect(judgeRefusedEnrolment({ code: `HTTP_${status}`, status, details: undefined })).toMatchObject({ kind });
  });
});
