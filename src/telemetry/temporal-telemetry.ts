import {
  type Context,
  propagation,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { hrTimeDuration, millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Context as ActivityContext } from '@temporalio/activity';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import { extractContextFromHeaders, TRACE_HEADER } from '@temporalio/interceptors-opentelemetry/lib/instrumentation.js';
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { WorkflowInfo } from '@temporalio/workflow';
import type { TracedHire } from '../trace.ts';
import type { TemporalTelemetry, WorkflowSpan } from './telemetry.ts';

/** Temporal's interceptors for client and activities. `rootOf`: the parent of a hire's spans. */
export function temporalTelemetry(
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
