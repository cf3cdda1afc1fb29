import { expect, test } from 'vitest';
import { tryRateLimit } from '../rate-limit/fleet/measure-rate-limit.ts';

// Every kind of limit, three processes, four minutes each: npm run test:rate-limit.
test('two processes share a learned rate limit: few 429s, most of the limit used, live calls first', async () => {
  const { share429, throughput, live, calls } = await tryRateLimit({
    name: 'two processes',
    limit: 'token:10:10',
    perSecond: 10,
    processes: 2,
    learned: 9.7,
    learnSeconds: 1,
    seconds: 8,
  });
  // Each by itself would send 9.7 a second, and together every second call would be refused.
  expect(share429).toBeLessThan(0.1);
  expect(throughput).toBeGreaterThan(0.6);
  expect(Math.min(...calls)).toBeGreaterThan(5);
  // Behind sixteen bulk calls of its own process it would wait 1.6 s and more. So few calls have no p99 worth the name.
  expect(live.p50).toBeLessThanOrEqual(200 + 250);
});
