import { test } from 'vitest';
import { expectAgreement, expectCounterexample } from './expect-family.ts';
import { pipelines } from './pipelines.ts';

test('pipelines and their stages do what the model says, whatever the order of steps', () =>
  expectAgreement(pipelines));

test('the model notices stages that are placed last but one whatever order says', () =>
  expectCounterexample(pipelines, (company) => ({
    ...company,
    api: (method, path, body) =>
      path === '/pipelines/stages' && method === 'POST'
        ? company.api(method, path, { ...(body as object), order: undefined })
        : company.api(method, path, body),
  })));
