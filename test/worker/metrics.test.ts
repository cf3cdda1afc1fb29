import { setTimeout as pause } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { createRootLogger } from '../../src/log.ts';
import { noteTrouble } from '../../src/store/alarms.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openHold } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';
import { openRateLimit } from '../../src/store/rate-limits.ts';
import { beginRun, commitPage } from '../../src/store/streams.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { installTracing } from '../../src/trace.ts';
import { createMetrics } from '../../src/worker/metrics.ts';
import { sqliteStore } from '../store/stores.ts';

const TENANTS = Array.from({ length: 1_000 }, (_, n) => `tenant-${n}`);
const OPERATIONS = ['candidates.list', 'jobs.list', 'pipelines.list', 'candidates.get', 'onboarding.create'];
const OUTCOMES = [
  { status: 200 },
  { status: 404, code: 'NOT_FOUND' },
  { status: 429, code: 'RATE_LIMITED' },
  { status: 500, code: 'SERVER' },
];

let statements = 0;
const counter: KyselyPlugin = {
  transformQuery({ node }) {
    statements += 1;
    return node;
  },
  transformResult: async ({ result }) => result,
};

/** A fleet whose tenants each have hires in several states, a rate limit of their own, and a hold; a few an alarm. */
async function fleet(): Promise<Store> {
  const store = await sqliteStore({ plugins: [counter] });
  const limit = openRateLimit(
    store,
    { tenantId: 'tenant-0', upstream: 'partner' },
    createRootLogger(undefined, 'silent'),
  );
  for (let n = 0; n < 50; n += 1) await limit.acquire('live', new AbortController().signal);
  await pause(50);
  for (const [n, tenantId] of TENANTS.entries()) {
    const key = (jobCandidateId: string) => ({ tenantId, jobCandidateId, period: 1 });
    const states = ['open', 'done', 'left', 'cancelled', 'before-go-live'] as const;
    await insertHires(
      store,
      states.map((_state, id) => ({ ...key(String(id)), state: 'open' as const })),
    );
    for (const [id, state] of states.entries())
      if (state !== 'open' && state !== 'before-go-live') await endHire(store, key(String(id)), state);
    await openHold(store, { tenantId, code: 'TEST', message: 'A test.', answers: ['retry'] });
    const trouble = { tenantId, kind: 'tenant-paused', subject: 's', reason: 'R', message: 'm' } as const;
    if (n < 200) await noteTrouble(store, trouble, 0);
    await readTenantState(store, tenantId);
    const stream = { tenantId, stream: 'people' };
    const counts = { unchanged: 1, created: 0, updated: 0, quarantined: 2 };
    await beginRun(store, stream, { runId: 'run', full: true, firstPage: 1 });
    await commitPage(store, stream, 'run', { next: 2, records: 3, total: 3, counts, state: 'partial' });
  }
  const row = await store.kysely.selectFrom('rate_limits').selectAll().executeTakeFirstOrThrow();
  const others = TENANTS.slice(1).map((tenant_id) => ({ ...row, tenant_id }));
  for (let from = 0; from < others.length; from += 100)
    await store.kysely
      .insertInto('rate_limits')
      .values(others.slice(from, from + 100))
      .execute();
  return store;
}

async function scrape(byTenant: boolean) {
  const registry = new Registry();
  const { called, started, hired } = createMetrics(await fleet(), registry, { byTenant });
  started('live', 1_500);
  hired(90_000);
  for (const tenantId of TENANTS)
    for (const operation of OPERATIONS)
      for (const outcome of OUTCOMES)
        called(tenantId, { operation, ms: 5, ...outcome } as Parameters<typeof called>[1]);
  const before = statements;
  const text = await registry.metrics();
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { statements: statements - before, series };
}

test('a scrape of a thousand tenants is 2,000 series, for ten statements', async () => {
  const { statements: asked, series } = await scrape(false);
  expect(series.length).toBeLessThan(2_000);
  expect(asked).toBeLessThanOrEqual(10);
  expect(series).toContain('hirebridge_partner_calls_total{operation="jobs.list",status="404",code="NOT_FOUND"} 1000');
  expect(series).toContain('hirebridge_hires{state="done"} 1000');
  expect(series).toContain('hirebridge_holds{tenant="tenant-7",code="TEST"} 1');
  expect(series).toContain('hirebridge_activity_schedule_to_start_seconds_bucket{le="2",queue="live"} 1');
  expect(series).toContain('hirebridge_activity_schedule_to_start_seconds_bucket{le="1",queue="live"} 0');
  expect(series).toContain('hirebridge_hire_seconds_bucket{le="60"} 0');
  expect(series).toContain('hirebridge_hire_seconds_bucket{le="300"} 1');
  expect(series).toContainEqual(expect.stringMatching(/^hirebridge_stream_records\{.*outcome="quarantined".*\} 2000$/));
  expect(Number(/^hirebridge_hire_oldest_seconds (.*)$/m.exec(series.join('\n'))?.[1])).toBeGreaterThan(0);
});

test('who asks for it has calls, hires and rate limits by tenant', async () => {
  const { series } = await scrape(true);
  const has = (text: string): boolean => series.some((line) => line.startsWith(text));
  expect(has('hirebridge_partner_calls_total{tenant="tenant-7",operation="jobs.list",status="404"')).toBe(true);
  expect(has('hirebridge_hires{tenant="tenant-7",state="open"}')).toBe(true);
  expect(has('hirebridge_rate_limit_per_second{tenant="tenant-7",upstream="partner"')).toBe(true);
  // Read with the first scrape, not with the one after it.
  expect(has('hirebridge_rate_limit_share{tenant="tenant-7",upstream="partner"')).toBe(true);
  expect(has('hirebridge_hire_oldest_seconds{tenant="tenant-7"}')).toBe(true);
  expect(has('hirebridge_stream_age_seconds{tenant="tenant-7",stream="people"}')).toBe(true);
});

test('while spans are made, buckets name the trace of what fell into them; else the page is as ever', async () => {
  const place = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  const page = async (): Promise<string> => {
    const registry = new Registry();
    const store = await sqliteStore();
    createMetrics(store, registry, { byTenant: false }).ended('openHire', 20);
    return registry.metrics();
  };
  expect(await page()).not.toMatch(/trace_id|# EOF/);
  installTracing({ span: (_name, _options, run) => run(() => undefined), past: () => undefined, here: () => place });
  onTestFinished(() => installTracing(undefined));
  const traced = await page();
  expect(traced).toMatch(
    new RegExp(`^hirebridge_activity_seconds_bucket\\{.*\\} 1 # \\{trace_id="${place.traceId}",span_id=`, 'm'),
  );
  expect(traced).toMatch(/# EOF\s*$/);
});
