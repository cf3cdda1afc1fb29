import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { liveWaits, measure } from '../rate-limit/fleet/measure.ts';
import { onStage } from '../rate-limit/fleet/stage.ts';

const BACKLOG = 16;

// Every kind of limit, three processes, minutes each: npm run test:rate-limit.
test('two processes share a learned rate limit: few 429s, most of the limit used, live calls first', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-rate-limit-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const seen = await onStage(`sqlite:${join(dir, 'store.db')}`, async (stage) => {
    await stage.learn('acme', 9.7);
    const partner = await stage.limited('token:10:10');
    const tenant = { tenantId: 'acme', ...partner.access, backlog: BACKLOG, liveEveryMs: 1_000 };
    const callers = [await stage.caller([tenant]), await stage.caller([tenant])];
    return measure({ partner, callers }, { learnMs: 1_000, ms: 8_000 });
  });
  // Each by itself would send 9.7 a second, and together every second call would be refused.
  expect(seen.share429).toBeLessThan(0.1);
  expect(seen.perSecond).toBeGreaterThan(6);
  expect(Math.min(...seen.calls)).toBeGreaterThan(5);
  // Behind sixteen bulk calls of its own process it would wait 1.6 s and more. So few calls have no p99 worth the name.
  expect(liveWaits(seen.seen).p50).toBeLessThanOrEqual(200 + 250);
});
