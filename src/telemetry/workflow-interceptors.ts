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
 * Bundled with the workflows. It makes spans if the start of a workflow brought a trace, and otherwise does nothing. It
 * makes no command, waits for nothing and takes no random number, so histories replay with and without it.
 *
 * Temporal's own interceptor brings OpenTelemetry's SDK into the sandbox, whose modules are evaluated for each
 * workflow: 6.9 ms of CPU instead of 1.4, and a bundle twice as large. Only ids and times are needed here; the SDK
 * outside makes spans of them.
 */

/** The header in which Temporal's interceptors of clients and activities put a trace. */
const TRACE_HEADER = '_tracer-data';
/** Version, trace, span and flags; an odd last digit means that the trace is sampled. */
const SAMPLED = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]$/;

const { spans } = proxySinks<SpanSinks>();

/** Each workflow gets its own. */
export const interceptors = (): WorkflowInterceptors => {
  /** The parent of all spans in this run. */
  let run: TracePlace | undefined;
  let made = 0;

  /** Derived from the run's id, which is random: a span has the same id when the workflow is replayed. */
  function placeBelow({ traceId }: TracePlace): TracePlace {
    made += 1;
    const own = BigInt(`0x${workflowInfo().runId.replaceAll('-', '').slice(-16)}`) ^ BigInt(made);
    return { traceId, spanId: own.toString(16).padStart(16, '0') };
  }

  /** Makes a span of `go`, and gives it the headers that carry the span. */
  function inSpan<Result>(name: string, headers: Headers, go: (headers: Headers) => Promise<Result>): Promise<Result> {
    const parent = run;
    if (parent === undefined) return go(headers);
    const place = placeBelow(parent);
    const startedAt = Date.now();
    const end = (failed?: string) =>
      spans.ended({ name, place, parentSpanId: parent.spanId, startedAt, endedAt: Date.now(), failed });
    const going = go({ ...headers, ...headersAt(place) });
    // Attached beside the promise: code that awaits it continues no later than without a span.
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
         * The span of a run ends when it begins: a hire may take weeks, and until then all spans of its trace would
         * have a parent that was never sent.
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
        /** It never returns; the headers make the next run a child of this one. */
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
