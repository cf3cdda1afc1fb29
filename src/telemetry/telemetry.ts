import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { InjectedSinks, WorkerInterceptors } from '@temporalio/worker';
import type { TracePlace } from '../trace.ts';

/** What a process that sends traces or metrics hands to Temporal, and ends with. */
export interface Telemetry {
  /** Absent where only metrics are sent. */
  temporal?: TemporalTelemetry;
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>;
}

/** Temporal's own interceptors: the trace goes through its headers. */
export interface TemporalTelemetry {
  client: WorkflowClientInterceptor;
  activity: NonNullable<WorkerInterceptors['activity']>;
  sinks: InjectedSinks<SpanSinks>;
}

/** A span as a workflow tells it; times in ms since 1970, `failed` the kind of error with which it ended. */
export interface WorkflowSpan {
  name: string;
  place: TracePlace;
  parentSpanId: string;
  startedAt: number;
  endedAt: number;
  failed: string | undefined;
}

/** How spans leave the sandbox of workflows; a type, because Temporal asks for an index signature. */
export type SpanSinks = { spans: { ended(span: WorkflowSpan): void } };

/** A part of the program, as `service.name` has it: hirebridge-worker. */
export type Part = 'serve' | 'worker' | 'console';

/** What the environment asks for, by the names that OpenTelemetry gives. */
export interface Asked {
  traces: boolean;
  metrics: boolean;
}
