import { expect, test } from 'vitest';
import { hireStartOptions } from '../../src/temporal/hire-client.ts';
import { bulkTaskQueue, taskQueue } from '../../src/temporal/ids.ts';

test('a hire starts under the fairness key of its tenant, before reconciles and streams', () => {
  const timing = { heartbeatMs: 1, attemptMs: 1, retryMs: 1 };
  const { priority } = hireStartOptions('hb1', { tenantId: 'acme', jobCandidateId: '5012', timing }, 'person');
  expect(priority).toEqual({ priorityKey: 2, fairnessKey: 'acme' });
});

test('bulk work has a queue of its own, where hires never wait behind it', () => {
  expect(bulkTaskQueue('hb1')).not.toBe(taskQueue('hb1'));
});
