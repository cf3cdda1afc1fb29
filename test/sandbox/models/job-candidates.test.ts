import { expect, test } from 'vitest';
import { jobCandidates } from './job-candidates.ts';
import { checkFamily } from './model-run.ts';

test('job candidates do what the model says, whatever the order of steps', () => {
  const { runs, steps, seed } = checkFamily(jobCandidates, { runs: 100, seed: 1 });
  console.log(`jobCandidates: ${runs} runs, ${steps} steps, seed ${seed}`);
  expect(steps).toBeGreaterThan(1_000);
});

test('the model notices a removal that leaves the person on the job', () => {
  const spoiled = () =>
    checkFamily(jobCandidates, {
      runs: 100,
      seed: 1,
      spoil: (company) => ({
        ...company,
        api: (method, path, body) =>
          method === 'DELETE' ? company.api('GET', '/pipelines') : company.api(method, path, body),
      }),
    });
  expect(spoiled).toThrow('Counterexample');
});
