import { createHash } from 'node:crypto';

/**
 * Spans, if traces are requested (OTEL_*, see src/telemetry). Otherwise nothing is loaded or made: the functions here
 * then only run what they are given.
 */

/** Our own ids, names and codes, and numbers; never text from outside, never personal data. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/** A place in a trace in W3C's form: 32 and 16 hexadecimal digits. */
export interface TracePlace {
  traceId: string;
  spanId: string;
}

export interface SpanOptions {
  facts?: Facts;
  /** A call to another system, or something received; internal if absent. */
  kind?: 'client' | 'consumer';
  /** The hire whose trace it belongs to; by default it belongs to the current span. */
  hire?: TracedHire;
  /** Its cause, in another trace. */
  causedBy?: TracePlace;
}

interface PastOptions extends SpanOptions {
  as?: TracePlace;
  /** Code of the error with which it ended. */
  failed?: string;
}

/** Adds facts that become known during the work. */
type Note = (facts: Facts) => void;

/** The implementation that src/telemetry installs. */
export interface Tracing {
  span<T>(name: string, options: SpanOptions, run: (note: Note) => Promise<T>): Promise<T>;
  /** A span that is over already, after `ms`. `as`: makes it a root at a place that others know. */
  past(name: string, options: PastOptions, ms: number): void;
  here(): TracePlace | undefined;
}

/** Identifies a hire; its trace is derived from this, so that every process knows it without asking. */
export interface TracedHire {
  installationId: string;
  tenantId: string;
  jobCandidateId: string;
}

let tracing: Tracing | undefined;

export function installTracing(installed: Tracing | undefined): void {
  tracing = installed;
}

export function isTracing(): boolean {
  return tracing !== undefined;
}

const nothing: Note = () => undefined;

/** Runs the work as a span of the current trace; without one, for example in a chore, makes none. */
export function traced<T>(name: string, options: SpanOptions, run: (note: Note) => Promise<T>): Promise<T> {
  if (tracing === undefined || tracing.here() === undefined) return run(nothing);
  return tracing.span(name, options, run);
}

/** Records something that just ended as a span of the current trace. */
export function tracePast(name: string, options: PastOptions, ms: number): void {
  if (tracing?.here() !== undefined) tracing.past(name, options, ms);
}

/** The current trace and span, with the names used in logs. */
export function tracedIds(): { trace_id: string; span_id: string } | undefined {
  const place = tracing?.here();
  return place && { trace_id: place.traceId, span_id: place.spanId };
}

/**
 * The trace of a hire and its root. All work on a hire is in one trace, whatever webhook, reconcile or person caused
 * it, in any process and for as long as it takes: no id has to be stored or passed on.
 */
export function placeOfHire({ installationId, tenantId, jobCandidateId }: TracedHire): TracePlace {
  return placeOf('hire', installationId, tenantId, jobCandidateId);
}

/** Runs work on a hire in its trace, and links the cause, a delivery or a reconcile, if it has a trace of its own. */
export function tracedForHire<T>(
  name: string,
  hire: TracedHire,
  options: Pick<SpanOptions, 'facts' | 'causedBy'>,
  run: () => Promise<T>,
): Promise<T> {
  if (tracing === undefined) return run();
  const here = tracing.here();
  if (here?.traceId === placeOfHire(hire).traceId) return run();
  const causedBy = options.causedBy ?? here;
  return tracing.span(name, { ...options, hire, ...(causedBy === undefined ? {} : { causedBy }) }, run);
}

/** Records the root of a hire's trace when the hire is opened. */
export function traceOpened(hire: TracedHire): void {
  const { tenantId, jobCandidateId } = hire;
  const facts = { 'hirebridge.tenant': tenantId, 'hirebridge.job_candidate_id': jobCandidateId };
  tracing?.past('hire', { facts, as: placeOfHire(hire) }, 0);
}

/** Identifies a delivery from a webhook. */
interface TracedDelivery {
  installationId: string;
  tenantId: string;
  bodyHash: string;
}

/** The trace of a delivery that starts no hire. */
export function placeOfDelivery({ installationId, tenantId, bodyHash }: TracedDelivery): TracePlace {
  return placeOf('delivery', installationId, tenantId, bodyHash);
}

/** The event that starts hires; only the relay knows which hires other events concern. */
export const STARTING_EVENT = 'candidate.hired';

/** Records a stored delivery: in the trace of each hire that it starts, or in one of its own. */
export function traceReceived(
  delivery: TracedDelivery,
  { event, jobCandidateIds, ms }: { event: string; jobCandidateIds: readonly string[]; ms: number },
): void {
  if (tracing === undefined) return;
  const { installationId, tenantId } = delivery;
  const facts = { 'hirebridge.tenant': tenantId, 'hirebridge.event': event };
  const options = { kind: 'consumer', facts } as const;
  const hires = event === STARTING_EVENT ? jobCandidateIds : [];
  for (const jobCandidateId of hires)
    tracing.past(`receive ${event}`, { ...options, hire: { installationId, tenantId, jobCandidateId } }, ms);
  if (hires.length === 0) tracing.past(`receive ${event}`, { ...options, as: placeOfDelivery(delivery) }, ms);
}

/** Not a digest of secrets: it only has to be the same in every process, and even, because samplers use it. */
function placeOf(...parts: string[]): TracePlace {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}
