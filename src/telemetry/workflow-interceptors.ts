import { context, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { extractContextFromHeaders } from '@temporalio/interceptors-opentelemetry/lib/instrumentation.js';
import {
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';

/** Bundled with the workflows where traces are sent. It makes no command and waits for nothing, so histories replay. */

/** Where no trace came with the start, the workflow makes no spans, and each of its activities begins a trace. */
const UNTRACED = trace.setSpanContext(ROOT_CONTEXT, {
  traceId: '00000000000000000000000000000001',
  spanId: '0000000000000001',
  traceFlags: TraceFlags.NONE,
});

/**
 * Temporal's interceptor would end the span of a run with the run, and a hire may take weeks: until then everything in
 * the trace would hang below a span that nobody has. So it ends as it begins, and what follows hangs below it.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        const from = extractContextFromHeaders(input.headers);
        if (from === undefined || trace.getSpanContext(from) === undefined)
          return context.with(UNTRACED, () => next(input));
        const { workflowType } = workflowInfo();
        const span = trace.getTracer('hirebridge').startSpan(`RunWorkflow:${workflowType}`, {}, from);
        span.end();
        return context.with(trace.setSpan(from, span), () => next(input));
      },
    },
  ],
  outbound: [new OpenTelemetryOutboundInterceptor()],
  internals: [new OpenTelemetryInternalsInterceptor()],
});
