import { expect, test } from 'vitest';
import { checkFamily } from './model-run.ts';
import { pipelines } from './pipelines.ts';

test('pipelines and their stages do what the model says, whatever the order of steps', () => {
  const { runs, steps, seed } = checkFamily(pipelines, { runs: 100, seed: 1 });
  console.log(`pipelines: ${runs} runs, ${steps} steps, seed ${seed}`);
  expect(steps).toBeGreaterThan(1_000);
});

test('the model notices stages that are placed last but one whatever order says', () => {
  const spoiled = () =>
    checkFamily(pipelines, {
      runs: 100,
      seed: 1,
      spoil: (company) => ({
        ...company,
        api: (method, path, body) =>
          path === '/pipelines/stages' && method === 'POST'
            ? company.api(method, path, { ...(body as object), order: undefined })
            : company.api(method, path, body),
      }),
    });
  expect(spoiled).toThrow('Counterexample');
});
