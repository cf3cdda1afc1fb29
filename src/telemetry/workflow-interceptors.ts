import {
  defaultPayloadConverter,
  type Headers,
  proxySinks,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import type { TracePlace } from '../trace.ts';
import type { SpanSinks } from './telemetry.ts';

/**
 * Bundled with the workflows. It makes spans where the start of a workflow brought a trace, and does nothing elsewhere.
 * It makes no command, waits for nothing and takes no random number, so histories replay with and without.
 *
 * Temporal's own interceptor brings an SDK of OpenTelemetry into the sandbox, whose modules are evaluated anew for each
 * workflow: 6.9 ms of CPU instead of 1.4, and a bundle twice as large. Ids and times are all that is needed here; the
 * SDK outside makes spans of them.
 */

/** Where Temporal's interceptors of clients and activities put and look for a trace. */
const TRACE_HEADER = '_tracer-data';
/** Version, trace, span and flags, the last of which says that the trace is sampled. */
const SAMPLED = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]$/;

const { spans } = proxySinks<SpanSinks>();

/** Of each workflow by itself. */
export const interceptors = (): WorkflowInterceptors => {
  /** Below what everything in this run hangs. */
  let run: TracePlace | undefined;
  let made = 0;

  /** Of the run's own id, which is random: a span has the same id when the workflow is replayed. */
  function placeBelow({ traceId }: TracePlace): TracePlace {
    made += 1;
    const own = BigInt(`0x${workflowInfo().runId.replaceAll('-', '').slice(-16)}`) ^ BigInt(made);
    return { traceId, spanId: own.toString(16).padStart(16, '0') };
  }

  /** Makes a span of what `go` does with the headers that carry it. */
  function inSpan<Result>(name: string, headers: Headers, go: (headers: Headers) => Promise<Result>): Promise<Result> {
    const parent = run;
    if (parent === undefined) return go(headers);
    const place = placeBelow(parent);
    const startedAt = Date.now();
    const end = (failed?: string) =>
      spans.ended({ name, place, parentSpanId: parent.spanId, startedAt, endedAt: Date.now(), failed });
    const going = go({ ...headers, ...headersAt(place) });
    // Beside the promise, not in its way: what follows it comes no step later than without a span.
    going.then(
      () => end(),
      (error: unknown) => end(error instanceof Error ? error.name : 'Error'),
    );
    return going;
  }

  return {
    inbound: [
      {
        /**
         * The span of a run ends as it begins: a hire may take weeks, and until then everything in its trace would hang
         * below a span that nobody has.
         */
        execute(input, next) {
          const from = placeIn(input.headers);
          if (from === undefined) return next(input);
          run = placeBelow(from);
          const now = Date.now();
          const name = `RunWorkflow:${workflowInfo().workflowType}`;
          spans.ended({ name, place: run, parentSpanId: from.spanId, startedAt: now, endedAt: now, failed: undefined });
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) =>
          inSpan(`StartActivity:${input.activityType}`, input.headers, (headers) => next({ ...input, headers })),
        /** It never returns, so that the next run hangs below this one. */
        continueAsNew: (input, next) => {
          const headers = run === undefined ? input.headers : { ...input.headers, ...headersAt(run) };
          return next({ ...input, headers });
        },
      },
    ],
  };
};

function placeIn(headers: Headers): TracePlace | undefined {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return undefined;
  const { traceparent = '' } = defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload);
  const [, traceId, spanId] = SAMPLED.exec(traceparent) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

function headersAt({ traceId, spanId }: TracePlace): Headers {
  return { [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent: `00-${traceId}-${spanId}-01` }) };
}
