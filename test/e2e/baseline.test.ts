import { expect, test } from 'vitest';
import { killAfterCalls, leastCalls, measureBaseline } from '../baseline/measure-baseline.ts';
import { temporalForTests } from '../harness/temporal.ts';

// At full size, with each number beside its bound: npm run test:baseline.
test('a baseline whose worker is killed again and again costs a call more each time, and misses nobody', async () => {
  const { address: temporalAddress } = await temporalForTests();
  const company = { jobs: 120, candidates: 60, hired: 420 };
  const { baseline, quiet } = await measureBaseline({
    ...company,
    temporalAddress,
    latencyMs: 100,
    nextKill: killAfterCalls(4),
  });
  expect(baseline.kills).toBeGreaterThanOrEqual(2);
  expect(baseline.recorded).toHaveLength(company.hired);
  const { 'jobs.list': jobs = 0, 'jobCandidates.listByStageType': people = 0 } = Object.fromEntries(baseline.calls);
  expect(jobs + people).toBeLessThanOrEqual(leastCalls(company) + 5 + baseline.kills);
  expect(Object.fromEntries(quiet.calls)).toEqual({ 'jobs.list': 2 });
  expect(quiet.written).toBe(0);
}, 300_000);
