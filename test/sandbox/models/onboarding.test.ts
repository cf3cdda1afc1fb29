import { test } from 'vitest';
import { expectAgreement, expectCounterexample } from './expect-family.ts';
import { onboarding } from './onboarding.ts';

test('onboarding does what the model says, whatever the order of steps', () => expectAgreement(onboarding));

test('the model notices an enrolment that costs two credits', () =>
  expectCounterexample(onboarding, (company) => ({
    ...company,
    api(method, path, body) {
      const answer = company.api(method, path, body);
      const { onboardingCredits } = company.act('showCompany');
      if (answer.status === 201) company.act('setCredits', { onboardingCredits: Math.max(0, onboardingCredits - 1) });
      return answer;
    },
  })));
