import { Counter, Gauge, Histogram, type PrometheusContentType, Registry } from 'prom-client';
import type { CallReport } from '../partner/client/types.ts';
import type { RateLimitView } from '../rate-limit/view-rate-limit.ts';
import { listAlarms } from '../store/alarms.ts';
import { oldestOwnTimes } from '../store/hire-states.ts';
import { countHires } from '../store/hires.ts';
import { countOpenHolds } from '../store/holds.ts';
import { countOpenDeliveries } from '../store/inbox.ts';
import { readClock, type Store } from '../store/open-store.ts';
import { createRateLimitViews } from '../store/rate-limits.ts';
import { sumStreams } from '../store/streams.ts';
import { isTracing, tracedIds } from '../trace.ts';

interface MetricsOptions {
  /**
   * Whether calls, hires and rate limits are split by tenant: thirty or more series for each tenant, which block the
   * process while they are written. Holds and alarms are always split: they are few, and a person must look at them.
   */
  byTenant: boolean;
}

export interface Metrics {
  /** Counts a finished call to a partner. */
  called(tenantId: string, report: CallReport): void;
  /** Counts a started activity, and how long it waited for a worker. */
  started(queue: 'live' | 'bulk', waitedMs: number): void;
  /** Counts a finished attempt of an activity, successful or not. */
  ended(activity: string, ms: number): void;
  /** Counts a hire whose end is verified, with the time since it last waited for a person. */
  hired(ms: number): void;
}

/** Registers the fleet's metrics; returns the functions that report to them. */
export function createMetrics(store: Store, registry: Registry, options: MetricsOptions): Metrics {
  const label = labelOf(options);
  const gauge = gaugesIn(registry);
  const clock: Clock = askedOnce(async () => {
    const asked = performance.now();
    const now = await readClock(store);
    return { now, tookMs: performance.now() - asked };
  });
  gauge('hirebridge_hires', 'Hires by state', [...label.names, 'state'], async () =>
    (await countHires(store)).map(({ tenantId, state, count }) => [{ ...label.of(tenantId), state }, count]),
  );
  // Only hires that should proceed by themselves; 0 if there is none.
  const oldest =
    'How long the oldest open hire has needed without waiting for anybody; without paused and frozen tenants';
  gauge('hirebridge_hire_oldest_seconds', oldest, label.names, async () => {
    const ages = await oldestOwnTimes(store);
    if (!options.byTenant) return [[{}, Math.max(0, ...ages.map(({ ms }) => ms)) / 1000]];
    return ages.map(({ tenantId, ms }) => [label.of(tenantId), Math.max(0, ms) / 1000]);
  });
  gaugeStreams(store, registry, options);
  const answer = 'How long the store took to tell the time when the metrics were read';
  gauge('hirebridge_store_answer_seconds', answer, [], async () => [[{}, (await clock()).tookMs / 1000]]);
  gauge('hirebridge_holds', 'Open holds by tenant and reason', ['tenant', 'code'], async () =>
    (await countOpenHolds(store)).map(({ tenantId: tenant, code, count }) => [{ tenant, code }, count]),
  );
  gauge('hirebridge_alarms', 'Raised alarms by tenant, kind and reason', ['tenant', 'kind', 'reason'], async () =>
    (await listAlarms(store)).map(({ tenant_id: tenant, kind, reason }) => [{ tenant, kind, reason }, 1]),
  );
  gaugeInbox(store, clock, registry);
  gaugeRateLimits(store, registry, options);
  // Exemplars need the OpenMetrics form of the page, which Prometheus reads as well.
  if (isTracing()) registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as PrometheusContentType);
  const called = countCalls(registry, options);
  const started = countWaits(registry);
  const help = 'Duration of activities, the steps of hires, reconciles and streams, by name';
  const steps = histogram(registry, { name: 'hirebridge_activity_seconds', help, labelNames: ['activity'] });
  // Without the time spent waiting for people.
  const hires = histogram(registry, {
    name: 'hirebridge_hire_seconds',
    help: 'From the last wait of a hire for a person or its onboarding to its verified end',
    buckets: [1, 5, 15, 60, 300, 600, 1_800, 3_600, 21_600, 86_400],
  });
  return { called, started, ended: (activity, ms) => steps({ activity }, ms), hired: (ms) => hires({}, ms) };
}

type Rows = [labels: Record<string, string>, value: number][];

/** Registers gauges that are set anew whenever the metrics are read; rows with the same labels are added up. */
function gaugesIn(registry: Registry) {
  return (name: string, help: string, labelNames: string[], rows: () => Promise<Rows>): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const counted = await rows();
        this.reset();
        for (const [labels, value] of counted) this.inc(labels, value);
      },
    });
  };
}

/** Several gauges share one query to the store: it runs once per scrape, and each gauge awaits it. */
function askedOnce<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined;
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** The time by the store's clock, and how long it took to tell it, ms. */
type Clock = () => Promise<{ now: number; tookMs: number }>;

/** A histogram of seconds; if spans are made, its buckets name a trace. */
function histogram(
  registry: Registry,
  config: { name: string; help: string; labelNames?: string[]; buckets?: number[] },
) {
  const enableExemplars = isTracing();
  const seconds = new Histogram({ ...config, enableExemplars, registers: [registry] });
  return (labels: Record<string, string>, ms: number): void => {
    const value = ms / 1000;
    if (!enableExemplars) return seconds.observe(labels, value);
    seconds.observe({ labels, value, exemplarLabels: { ...tracedIds() } });
  };
}

/** The tenant label, if metrics are split by tenant. */
function labelOf({ byTenant }: MetricsOptions) {
  return {
    names: byTenant ? ['tenant'] : [],
    of: (tenant: string): Record<string, string> => (byTenant ? { tenant } : {}),
  };
}

/** How long activities waited for a worker; long waits mean too few workers. */
function countWaits(registry: Registry): Metrics['started'] {
  const waits = new Histogram({
    name: 'hirebridge_activity_schedule_to_start_seconds',
    help: 'How long activities waited for a worker, by queue: live (hires) and bulk (reconciles and streams)',
    labelNames: ['queue'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
    registers: [registry],
  });
  return (queue, waitedMs) => waits.observe({ queue }, Math.max(0, waitedMs) / 1000);
}

/** Counts calls to a partner by operation and outcome, and measures their duration. */
function countCalls(registry: Registry, options: MetricsOptions): Metrics['called'] {
  const label = labelOf(options);
  const calls = new Counter({
    name: 'hirebridge_partner_calls_total',
    help: 'Calls to the partner API by operation and outcome',
    labelNames: [...label.names, 'operation', 'status', 'code'],
    registers: [registry],
  });
  const help = 'Duration of calls to the partner API';
  const seconds = histogram(registry, { name: 'hirebridge_partner_call_seconds', help, labelNames: ['operation'] });
  return (tenant, { operation, status, code, ms }) => {
    calls.inc({ ...label.of(tenant), operation, status: status ?? 0, code: code ?? '' });
    seconds({ operation }, ms);
  };
}

/** Waiting and left deliveries, and the age of the oldest that waits for a worker; 0 if none does. */
function gaugeInbox(store: Store, clock: Clock, registry: Registry): void {
  const collect = askedOnce(async () => {
    const [counts, { now }] = await Promise.all([countOpenDeliveries(store), clock()]);
    deliveries.reset();
    for (const { state, count } of counts) deliveries.inc({ state }, count);
    const due = counts.filter(({ state, isAtWork }) => state === 'waiting' && isAtWork);
    const came = due.map(({ oldestAt }) => oldestAt);
    oldest.set(Math.max(0, now - Math.min(now, ...came)) / 1000);
  });
  const oldest = new Gauge({
    name: 'hirebridge_inbox_oldest_seconds',
    help: 'How long the oldest waiting delivery has waited, without paused and removed tenants',
    registers: [registry],
    collect,
  });
  const deliveries = new Gauge({
    name: 'hirebridge_inbox_deliveries',
    help: 'Deliveries that wait or were set aside for a person, by state',
    labelNames: ['state'],
    registers: [registry],
    collect,
  });
}

/** The latest run of each stream; without split by tenant, the oldest run's age and the sums of records. */
function gaugeStreams(store: Store, registry: Registry, options: MetricsOptions): void {
  const label = labelOf(options);
  const collect = askedOnce(async () => {
    const rows = await sumStreams(store, options);
    ages.reset();
    records.reset();
    for (const { tenantId, stream, ageMs, records: sums } of rows) {
      const labels = { ...label.of(tenantId), stream };
      ages.set(labels, Math.max(0, ageMs) / 1000);
      for (const { outcome, count } of sums) records.set({ ...labels, outcome }, count);
    }
  });
  const ages = new Gauge({
    name: 'hirebridge_stream_age_seconds',
    help: 'Seconds since the latest run of each stream last made progress',
    labelNames: [...label.names, 'stream'],
    registers: [registry],
    collect,
  });
  const records = new Gauge({
    name: 'hirebridge_stream_records',
    help: 'Records in the latest run of each stream, by outcome',
    labelNames: [...label.names, 'stream', 'outcome'],
    registers: [registry],
    collect,
  });
}

/**
 * The learned state of each rate limit and the fate of its calls, read from the store with the metrics. Without split
 * by tenant, the worst value for each upstream.
 */
function gaugeRateLimits(store: Store, registry: Registry, options: MetricsOptions): void {
  const label = labelOf(options);
  const viewRateLimits = createRateLimitViews(store);
  const collect = askedOnce(async () => {
    const views = await viewRateLimits();
    for (const each of [rates, shares, waits]) each.reset();
    const seen = Map.groupBy(views, ({ tenantId, upstream }) =>
      options.byTenant ? `${tenantId} ${upstream}` : upstream,
    );
    for (const alike of seen.values()) {
      const [{ tenantId, upstream }] = alike as [RateLimitView];
      const common = { ...label.of(tenantId), upstream };
      const most = (what: (view: RateLimitView) => number): number => Math.max(...alike.map(what));
      for (const [kind, own] of Map.groupBy(alike, (view) => view.kind))
        rates.set({ ...common, kind }, Math.min(...own.map(({ rate }) => rate)));
      shares.set(
        { ...common, of: '429' },
        most((view) => view.share429),
      );
      shares.set(
        { ...common, of: 'used' },
        most((view) => view.use),
      );
      for (const priority of ['live', 'bulk'] as const) {
        const waited = alike.flatMap((view) => view.waits[priority] ?? []);
        if (waited.length === 0) continue;
        const longest = (ms: readonly number[]): number => Math.max(...ms) / 1000;
        waits.set({ ...common, priority, quantile: '0.5' }, longest(waited.map(({ p50Ms }) => p50Ms)));
        waits.set({ ...common, priority, quantile: '0.99' }, longest(waited.map(({ p99Ms }) => p99Ms)));
      }
    }
  });
  const gauge = (name: string, help: string, labels: readonly string[]) =>
    new Gauge({
      name: `hirebridge_rate_limit_${name}`,
      help,
      labelNames: [...label.names, 'upstream', ...labels],
      registers: [registry],
      collect,
    });
  const share = 'Of the calls of the last minutes: refused with 429; and used of the learned rate';
  const shares = gauge('share', share, ['of']);
  const wait = 'How long calls waited for a permit in the last minutes';
  const waits = gauge('wait_seconds', wait, ['priority', 'quantile']);
  const rate = 'Calls a second that are allowed now, as learned, by the assumed kind of limit';
  const rates = gauge('per_second', rate, ['kind']);
}
