import { test } from 'vitest';
import { expectAgreement, expectCounterexample } from './expect-family.ts';
import { jobCandidates } from './job-candidates.ts';

test('job candidates do what the model says, whatever the order of steps', () => expectAgreement(jobCandidates));

test('the model notices a removal that leaves the person on the job', () =>
  expectCounterexample(jobCandidates, (company) => ({
    ...company,
    api: (method, path, body) =>
      method === 'DELETE' ? company.api('GET', '/pipelines') : company.api(method, path, body),
  })));
