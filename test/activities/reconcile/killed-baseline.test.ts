import { expect, test } from 'vitest';
import { type Baseline, killAfterCalls, measureBaseline } from '../../baseline/measure-baseline.ts';

// At full size, with each number beside its bound: npm run test:baseline.
test('a baseline whose process is killed again and again costs a call more each time, and misses nobody', async () => {
  const company = { jobs: 120, candidates: 60, hired: 420 };
  const { undisturbed, quiet, killed } = await measureBaseline({
    ...company,
    latencyMs: 100,
    nextKill: killAfterCalls(4),
  });
  expect(undisturbed.recorded).toHaveLength(company.hired);
  expect(killed.recorded).toEqual(undisturbed.recorded);
  expect(killed.kills).toBeGreaterThanOrEqual(2);
  const listed = ({ calls }: Baseline) =>
    (calls.get('jobs.list') ?? 0) + (calls.get('jobCandidates.listByStageType') ?? 0);
  expect(listed(killed)).toBeLessThanOrEqual(listed(undisturbed) + killed.kills);
  expect(Object.fromEntries(quiet.calls)).toEqual({ 'jobs.list': 2 });
  expect(quiet.written).toBe(0);
});
