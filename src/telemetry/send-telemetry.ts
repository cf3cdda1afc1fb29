import { createRequire } from 'node:module';
import {
  type Attributes,
  type Context,
  context,
  type HrTime,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
  ValueType,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { hrTime, hrTimeDuration, millisToHrTime, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Context as ActivityContext } from '@temporalio/activity';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import { extractContextFromHeaders, TRACE_HEADER } from '@temporalio/interceptors-opentelemetry/lib/instrumentation.js';
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { WorkflowInfo } from '@temporalio/workflow';
import type { Registry } from 'prom-client';
import { isConnectorError } from '../errors.ts';
import {
  type Facts,
  installTracing,
  placeOfHire,
  type SpanOptions,
  type TracedHire,
  type TracePlace,
  type Tracing,
} from '../trace.ts';
import { within } from '../within.ts';
import type { Asked, Part, Telemetry, TemporalTelemetry, WorkflowSpan } from './telemetry.ts';

const CLOSE_MS = 2_000;

/** Installs OpenTelemetry's SDK, which reads its settings from OTEL_* itself. */
export function sendTelemetry(part: Part, registry: Registry, asked: Asked): Telemetry {
  const resource = resourceOf(part);
  const closers: (() => Promise<void>)[] = [];
  if (asked.metrics) closers.push(sendMetrics(registry, resource));
  const telemetry: Telemetry = {
    async close() {
      installTracing(undefined);
      await within(CLOSE_MS, Promise.allSettled(closers.map((close) => close())));
    },
  };
  if (!asked.traces) return telemetry;
  const ids = createIdGenerator();
  const processor = new BatchSpanProcessor(withoutMessages(new OTLPTraceExporter()));
  const provider = new BasicTracerProvider({ resource, idGenerator: ids, spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const { tracing, rootOf } = createTracing(provider.getTracer('hirebridge'), ids);
  installTracing(tracing);
  closers.push(() => provider.shutdown());
  if (part !== 'worker') return telemetry;
  return { ...telemetry, temporal: temporalTelemetry(processor, resource, rootOf) };
}

/** Named after the part, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise. */
function resourceOf(part: Part): Resource {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
  const own = resourceFromAttributes({ 'service.name': `hirebridge-${part}`, 'service.version': version });
  const detected = detectResources({ detectors: [serviceInstanceIdDetector, envDetector] });
  return defaultResource().merge(own).merge(detected);
}

type IdGenerator = RandomIdGenerator & { next(place: TracePlace | undefined): void };

/** Random ids, except for a span whose place others must know: that place is set directly before the span begins. */
function createIdGenerator(): IdGenerator {
  const random = new RandomIdGenerator();
  let place: TracePlace | undefined;
  return {
    next: (given) => (place = given),
    generateTraceId: () => place?.traceId ?? random.generateTraceId(),
    generateSpanId: () => place?.spanId ?? random.generateSpanId(),
  };
}

const KINDS = { client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

/** `rootOf`: the parent of all spans about a hire, whichever process records that root, and whenever. */
function createTracing(tracer: Tracer, ids: IdGenerator): { tracing: Tracing; rootOf: (hire: TracedHire) => Context } {
  /** A root at its own place. The sampler decides by trace id, so every process decides the same. */
  function rootAt(name: string, options: object, place: TracePlace): Span {
    ids.next(place);
    try {
      return tracer.startSpan(name, options, ROOT_CONTEXT);
    } finally {
      ids.next(undefined);
    }
  }

  function rootOf(hire: TracedHire): Context {
    const root = rootAt('hire', {}, placeOfHire(hire)).spanContext();
    return trace.setSpanContext(ROOT_CONTEXT, { ...root, isRemote: true });
  }

  const contextOf = ({ hire }: SpanOptions): Context => (hire === undefined ? context.active() : rootOf(hire));

  const settings = ({ kind, causedBy, facts }: SpanOptions) => ({
    kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
    attributes: attributesOf(facts),
    links: causedBy === undefined ? [] : [{ context: { ...causedBy, traceFlags: TraceFlags.NONE } }],
  });

  const tracing: Tracing = {
    async span(name, options, run) {
      const parent = contextOf(options);
      const span = tracer.startSpan(name, settings(options), parent);
      try {
        return await context.with(trace.setSpan(parent, span), () =>
          run((facts) => void span.setAttributes(attributesOf(facts))),
        );
      } catch (error) {
        fail(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
    past(name, options, ms) {
      const ended = Date.now();
      const own = { ...settings(options), startTime: ended - ms };
      const span =
        options.as === undefined ? tracer.startSpan(name, own, contextOf(options)) : rootAt(name, own, options.as);
      if (options.failed !== undefined) failAs(span, options.failed);
      span.end(ended);
    },
    here: () => trace.getSpanContext(context.active()),
  };
  return { tracing, rootOf };
}

function attributesOf(facts: Facts = {}): Attributes {
  return facts;
}

/** Temporal's interceptors record an error's message and stack, which may quote a value. Only its kind is sent. */
function withoutMessages(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(withoutMessage), done),
    shutdown: () => exporter.shutdown(),
  };
}

function withoutMessage(span: ReadableSpan): ReadableSpan {
  if (span.status.code !== SpanStatusCode.ERROR && span.events.length === 0) return span;
  const [kind] = span.events.map(({ attributes }) => attributes?.['exception.type']);
  const type = span.attributes['error.type'] ?? kind ?? 'Error';
  return Object.create(span, {
    attributes: { value: { ...span.attributes, 'error.type': type } },
    status: { value: { code: span.status.code, message: String(type) } },
    events: { value: [] },
  });
}

/** Only the code: messages of foreign errors may quote a value. */
function fail(span: Span, error: unknown): void {
  failAs(span, isConnectorError(error) ? error.code : error instanceof Error ? error.name : 'Error');
}

function failAs(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}

const EVERY_MS = 60_000;
const MOST_MS = 30_000;

/** Sends the metrics of `/metrics` unchanged every minute (OTEL_METRIC_EXPORT_INTERVAL). Returns how to stop it. */
function sendMetrics(registry: Registry, resource: Resource): () => Promise<void> {
  const everyMs = Number(process.env['OTEL_METRIC_EXPORT_INTERVAL'] ?? '') || EVERY_MS;
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, MOST_MS),
  });
  reader.setMetricProducer(producerOf(registry, resource));
  return () => reader.shutdown();
}

/** Uses prom-client's counts for all readers: a second set of instruments would drift apart from it. */
function producerOf(registry: Registry, resource: Resource): MetricProducer {
  const startTime = millisToHrTime(performance.timeOrigin);
  return {
    async collect() {
      const times = { startTime, endTime: hrTime() };
      const counted = (await registry.getMetricsAsJSON()) as unknown as Counted[];
      const metrics = counted.map((metric) => toMetricData(metric, times));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'hirebridge' }, metrics }] }, errors: [] };
    },
  };
}

/** prom-client's output; its own types leave out some members of a histogram's values. */
interface Counted {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

type Times = { startTime: HrTime; endTime: HrTime };

function toMetricData({ name, help, type, values }: Counted, times: Times): MetricData {
  const common = {
    descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = values.map(({ value, labels }): DataPoint<number> => ({ ...times, attributes: labels, value }));
  if (type === 'counter') return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points };
  if (type !== 'histogram') return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points };
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(name, values, times) };
}

/** Prometheus' buckets include the smaller ones, as separate values; OTLP wants separate counts in one point. */
function histograms(name: string, values: Counted['values'], times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(values, ({ labels: { le: _bound, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((own) => {
    const of = (metricName: string): number => own.find((one) => one.metricName === metricName)?.value ?? 0;
    const buckets = own.filter(({ metricName }) => metricName === `${name}_bucket`);
    const { le: _bound, ...attributes } = own[0]?.labels ?? {};
    const counts = buckets.map(({ value }, place) => value - (buckets[place - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite);
    return {
      ...times,
      attributes: attributes as Attributes,
      value: { buckets: { boundaries, counts }, sum: of(`${name}_sum`), count: of(`${name}_count`) },
    };
  });
}

/** Temporal's interceptors for client and activities. `rootOf`: the parent of a hire's spans. */
function temporalTelemetry(
  processor: SpanProcessor,
  resource: Resource,
  rootOf: (hire: TracedHire) => Context,
): TemporalTelemetry {
  return {
    client: new OpenTelemetryWorkflowClientInterceptor(),
    activity: [(ctx) => ({ inbound: activityInterceptor(ctx, rootOf) })],
    sinks: {
      spans: { ended: { fn: (info, span) => processor.onEnd(fromWorkflow(span, info, resource)) } },
    },
  };
}

/**
 * Temporal's own interceptor, with the right trace for the activity. A hire's activity belongs to the hire's trace,
 * even if a command without telemetry started the workflow; any other begins a trace if its workflow has none.
 */
function activityInterceptor(ctx: ActivityContext, rootOf: (hire: TracedHire) => Context) {
  const own = new OpenTelemetryActivityInboundInterceptor(ctx);
  const hire = hireOf(ctx.info.workflowExecution?.workflowId ?? '');
  return {
    execute: ((input, next) => {
      const came = spanContextIn(input.headers);
      if (hire === undefined) return own.execute(came?.traceFlags === 1 ? input : without(input), next);
      const root = rootOf(hire);
      const isInTrace = came?.traceId === trace.getSpanContext(root)?.traceId;
      return own.execute(isInTrace ? input : { ...input, headers: { ...input.headers, ...headerOf(root) } }, next);
    }) satisfies OpenTelemetryActivityInboundInterceptor['execute'],
  };
}

/** Parses an id of `hireWorkflowId`: INSTALLATION/hire/TENANT/JOB CANDIDATE. */
function hireOf(workflowId: string): TracedHire | undefined {
  const [, installationId, tenantId, jobCandidateId] = /^([^/]+)\/hire\/([^/]+)\/([^/]+)$/.exec(workflowId) ?? [];
  if (installationId === undefined || tenantId === undefined || jobCandidateId === undefined) return undefined;
  return { installationId, tenantId, jobCandidateId };
}

function spanContextIn(headers: Headers): SpanContext | undefined {
  const from = extractContextFromHeaders(headers);
  return from === undefined ? undefined : trace.getSpanContext(from);
}

function without<Input extends { headers: Headers }>(input: Input): Input {
  const { [TRACE_HEADER]: _trace, ...headers } = input.headers;
  return { ...input, headers };
}

function headerOf(at: Context): Headers {
  const carrier: Record<string, string> = {};
  propagation.inject(at, carrier);
  return { [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}

/** A workflow's span in the SDK's form. */
function fromWorkflow(span: WorkflowSpan, { workflowId, runId, workflowType }: WorkflowInfo, resource: Resource) {
  const { name, place, parentSpanId, failed } = span;
  const [startTime, endTime] = [millisToHrTime(span.startedAt), millisToHrTime(span.endedAt)];
  const sampled = { traceId: place.traceId, traceFlags: TraceFlags.SAMPLED };
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => ({ ...sampled, spanId: place.spanId }),
    parentSpanContext: { ...sampled, spanId: parentSpanId },
    startTime,
    endTime,
    duration: hrTimeDuration(startTime, endTime),
    ended: true,
    status: failed === undefined ? { code: SpanStatusCode.OK } : { code: SpanStatusCode.ERROR, message: failed },
    attributes: {
      temporalWorkflowId: workflowId,
      run_id: runId,
      temporalWorkflowType: workflowType,
      ...(failed === undefined ? {} : { 'error.type': failed }),
    },
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    instrumentationScope: { name: 'hirebridge' },
    resource,
  } satisfies ReadableSpan;
}
