import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { InjectedSinks, WorkerInterceptors } from '@temporalio/worker';
import type { TracePlace } from '../trace.ts';

/** What a process with telemetry passes to Temporal, and closes at its end. */
export interface Telemetry {
  /** Absent if only metrics are sent. */
  temporal?: TemporalTelemetry;
  /** Sends the rest, for at most two seconds. */
  close(): Promise<void>;
}

/** Temporal's own interceptors, which pass the trace in headers. */
export interface TemporalTelemetry {
  client: WorkflowClientInterceptor;
  activity: NonNullable<WorkerInterceptors['activity']>;
  sinks: InjectedSinks<SpanSinks>;
}

/** A span from a workflow; times in ms since 1970, `failed` the kind of error with which it ended. */
export interface WorkflowSpan {
  name: string;
  place: TracePlace;
  parentSpanId: string;
  startedAt: number;
  endedAt: number;
  failed: string | undefined;
}

/** The way for spans out of the workflow sandbox; a type, because Temporal requires an index signature. */
export type SpanSinks = { spans: { ended(span: WorkflowSpan): void } };

/** A part of the program, in `service.name`: hirebridge-worker. */
export type Part = 'serve' | 'worker' | 'console';

/** What the environment requests, by OpenTelemetry's names. */
export interface Asked {
  traces: boolean;
  metrics: boolean;
}
