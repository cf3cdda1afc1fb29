import { expect, test } from 'vitest';
import { checkFamily } from './model-run.ts';
import { onboarding } from './onboarding.ts';

test('onboarding does what the model says, whatever the order of steps', () => {
  const { runs, steps, seed } = checkFamily(onboarding, { runs: 100, seed: 1 });
  console.log(`onboarding: ${runs} runs, ${steps} steps, seed ${seed}`);
  expect(steps).toBeGreaterThan(1_000);
});

test('the model notices an enrolment that costs two credits', () => {
  const spoiled = () =>
    checkFamily(onboarding, {
      runs: 100,
      seed: 1,
      spoil: (company) => ({
        ...company,
        api(method, path, body) {
          const answer = company.api(method, path, body);
          const { onboardingCredits } = company.act('showCompany');
          if (answer.status === 201)
            company.act('setCredits', { onboardingCredits: Math.max(0, onboardingCredits - 1) });
          return answer;
        },
      }),
    });
  expect(spoiled).toThrow('Counterexample');
});
