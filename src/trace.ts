import { createHash } from 'node:crypto';

/**
 * Spans, where somebody asked for traces (OTEL_*, see src/telemetry). Otherwise nothing is loaded and nothing is made:
 * each function here then does no more than run what it is given.
 */

/** Ids, names and codes of our own and numbers; never text that arrived from outside, never a person's data. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

/** A place in a trace, as W3C writes it: 32 and 16 hexadecimal digits. */
export interface TracePlace {
  traceId: string;
  spanId: string;
}

export interface SpanOptions {
  facts?: Facts;
  /** A call to another system, or something received; internal where absent. */
  kind?: 'client' | 'consumer';
  /** The hire whose trace it belongs to; by default it belongs to the span in whose course it is made. */
  hire?: TracedHire;
  /** What it came of, in another trace. */
  causedBy?: TracePlace;
}

interface PastOptions extends SpanOptions {
  as?: TracePlace;
  /** The code of the error with which it ended. */
  failed?: string;
}

/** Adds facts that are known only once the work is under way. */
export type Note = (facts: Facts) => void;

/** What src/telemetry installs. */
export interface Tracing {
  span<T>(name: string, options: SpanOptions, run: (note: Note) => Promise<T>): Promise<T>;
  /** A span that is over already: it took `ms` until now. `as`: a root at a place that others know. */
  past(name: string, options: PastOptions, ms: number): void;
  here(): TracePlace | undefined;
}

/** One hire of one installation: its trace follows from these, so that every process knows it without asking. */
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

/** Runs the work as a span of the trace under way; without one, for example in a chore, it makes none. */
export function traced<T>(name: string, options: SpanOptions, run: (note: Note) => Promise<T>): Promise<T> {
  if (tracing === undefined || tracing.here() === undefined) return run(nothing);
  return tracing.span(name, options, run);
}

/** Notes something that just ended as a span of the trace under way. */
export function tracePast(name: string, options: PastOptions, ms: number): void {
  if (tracing?.here() !== undefined) tracing.past(name, options, ms);
}

/** Trace and span under way, under the names that logs give them. */
export function tracedIds(): { trace_id: string; span_id: string } | undefined {
  const place = tracing?.here();
  return place && { trace_id: place.traceId, span_id: place.spanId };
}

/**
 * The trace of a hire and its root. Whatever is done about a hire stands in one trace, whichever webhook, reconcile or
 * person it came of, in whichever process, for as long as it takes: no id has to be stored or handed on.
 */
export function placeOfHire({ installationId, tenantId, jobCandidateId }: TracedHire): TracePlace {
  return placeOf('hire', installationId, tenantId, jobCandidateId);
}

/**
 * Runs what is done about a hire in its trace. What it came of, a delivery or a reconcile, is linked where that has a
 * trace of its own.
 */
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

/** The root of a hire's trace, noted where the hire is opened. */
export function traceOpened(hire: TracedHire): void {
  const { tenantId, jobCandidateId } = hire;
  const facts = { 'hirebridge.tenant': tenantId, 'hirebridge.job_candidate_id': jobCandidateId };
  tracing?.past('hire', { facts, as: placeOfHire(hire) }, 0);
}

/** A delivery as a webhook brought it. */
export interface TracedDelivery {
  installationId: string;
  tenantId: string;
  bodyHash: string;
}

/** Where a delivery that starts no hire is noted. */
export function placeOfDelivery({ installationId, tenantId, bodyHash }: TracedDelivery): TracePlace {
  return placeOf('delivery', installationId, tenantId, bodyHash);
}

/** The event that starts hires; which hires other events concern is known to the relay alone. */
export const STARTING_EVENT = 'candidate.hired';

/** Notes a delivery that was stored: in the trace of each hire that it starts, or in one of its own. */
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

/** No digest of secrets: it only has to be the same everywhere, and even, because samplers decide by it. */
function placeOf(...parts: string[]): TracePlace {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}
