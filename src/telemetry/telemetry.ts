import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry/lib/workflow/definitions.js';
import type { InjectedSinks, WorkerInterceptors } from '@temporalio/worker';

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
  sinks: InjectedSinks<OpenTelemetrySinks>;
}

/** A part of the program, as `service.name` has it: hirebridge-worker. */
export type Part = 'serve' | 'worker' | 'console';

/** What the environment asks for, by the names that OpenTelemetry gives. */
export interface Asked {
  traces: boolean;
  metrics: boolean;
}
