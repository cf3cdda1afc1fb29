import { createRequire } from 'node:module';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
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
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
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
import type { Asked, Part, Telemetry } from './telemetry.ts';

const CLOSE_MS = 2_000;

/** Loads and installs OpenTelemetry's SDK, which reads its settings from OTEL_* itself. */
export async function sendTelemetry(part: Part, registry: Registry, asked: Asked): Promise<Telemetry> {
  const resource = resourceOf(part);
  const closers: (() => Promise<void>)[] = [];
  if (asked.metrics) {
    const { sendMetrics } = await import('./send-metrics.ts');
    closers.push(sendMetrics(registry, resource));
  }
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
  const { temporalTelemetry } = await import('./temporal-telemetry.ts');
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
