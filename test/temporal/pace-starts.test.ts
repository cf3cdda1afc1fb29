import { expect, test } from 'vitest';
import { paceStarts } from '../../src/temporal/hire-client.ts';

const hire = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId });

test('starts beyond the first hundred or so leave one after the other, in the order they were asked for', async () => {
  const sent: string[] = [];
  const begin = performance.now();
  const paced = paceStarts(
    async ({ jobCandidateId }) => {
      sent.push(jobCandidateId);
      return true;
    },
    { aSecond: 100, atOnce: 5 },
  );
  const asked = Array.from({ length: 25 }, (_, n) => String(n));
  await Promise.all(asked.map((id) => paced(hire(id), 'person', { start: true })));
  expect(sent).toEqual(asked);
  // Twenty of them wait ten milliseconds each for the one before.
  expect(performance.now() - begin).toBeGreaterThan(180);
});

test('a signal that starts nothing waits for no start', async () => {
  const sent: string[] = [];
  const paced = paceStarts(
    async ({ jobCandidateId }) => {
      sent.push(jobCandidateId);
      return true;
    },
    { aSecond: 1, atOnce: 1 },
  );
  const starts = ['a', 'b'].map((id) => paced(hire(id), 'person', { start: true }));
  await paced(hire('c'), 'onboarding', { start: false });
  expect(sent).toEqual(['a', 'c']);
  await Promise.all(starts);
});
