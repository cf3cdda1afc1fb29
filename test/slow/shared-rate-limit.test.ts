import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../harness/until.ts';
import { onStage } from '../rate-limit/fleet/stage.ts';

const BACKLOG = 16;

// Every kind of limit, three processes, minutes each: npm run test:rate-limit.
/** Calls let through until it is judged: ten seconds of this limit, and as many more as the machine needs. */
const ADMITTED = 100;
/** Calls of each process until then: a busy machine may start one much later, or let it wait. */
const OF_EACH = 6;

// How much of a limit is used, and how long live calls wait, depends on the machine: judged in virtual time by
// shared-by-processes.test.ts and hire-beside-pass.test.ts, and on a quiet machine by npm run test:rate-limit.
test('two processes share a learned rate limit: each gets through, and few calls are refused', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-rate-limit-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const seen = await onStage(`sqlite:${join(dir, 'store.db')}`, async (stage) => {
    await stage.learn('acme', 9.7);
    const partner = await stage.limited('token:10:10');
    const tenant = { tenantId: 'acme', ...partner.access, backlog: BACKLOG, liveEveryMs: 1_000 };
    const since = Date.now();
    const callers = [await stage.caller([tenant]), await stage.caller([tenant])];
    const counted = await until('calls let through, of each process', async () => {
      const { answered, limited } = await partner.count(since, Date.now());
      const calls = await Promise.all(callers.map((caller) => caller.count()));
      return answered - limited >= ADMITTED && Math.min(...calls) >= OF_EACH && { answered, limited };
    });
    await Promise.all(callers.map((caller) => caller.stop()));
    return counted;
  });
  // Each by itself would send 9.7 a second, and together half of their calls would be refused. A slower machine sends
  // fewer of them.
  expect(seen.limited / seen.answered).toBeLessThan(0.25);
});
