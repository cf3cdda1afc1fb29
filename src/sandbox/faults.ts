import { z } from 'zod';
import { createRandom, type Random } from './random.ts';

type Json = Record<string, unknown>;

/** Changes that the platform may one day make to its answers without notice: name to its effect on one record. */
const SURPRISES = {
  'unknown-key': (record: Json): Json => ({ ...record, introducedLater: { since: 2027, flags: [true, null] } }),
  'unknown-enum': (record: Json): Json =>
    mapEntries(record, (key, value) => (isEnum(key, value) ? 'INTRODUCED_LATER' : value)),
  'id-as-text': (record: Json): Json =>
    mapEntries(record, (key, value) => (isId(key) && typeof value === 'number' ? String(value) : value)),
  'null-for-absent': (record: Json): Json =>
    mapEntries(record, (key, value) => (isId(key) || isEnum(key, value) ? value : nulled(value))),
  /** No reader can make sense of it: the id is gone. */
  unreadable: (record: Json): Json => mapEntries(record, (key, value) => (isId(key) ? { broken: true } : value)),
} as const;

type Surprise = keyof typeof SURPRISES;
const surpriseNames = Object.keys(SURPRISES) as [Surprise];

/** The body with its first `items` records changed; for a single record, that one. */
export function surprised(body: string, itemsAt: string | undefined, surprise: Surprise, items: number): string {
  const parsed = JSON.parse(body) as Json;
  const change = (value: unknown): unknown => (isRecord(value) ? SURPRISES[surprise](value) : value);
  const keys = (itemsAt ?? 'data').split('.');
  const last = keys.pop() ?? '';
  const holder = keys.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), parsed);
  if (!isRecord(holder)) return body;
  const at = holder[last];
  holder[last] = Array.isArray(at) ? at.map((value, index) => (index < items ? change(value) : value)) : change(at);
  return JSON.stringify(parsed);
}

function mapEntries(record: Json, change: (key: string, value: unknown) => unknown): Json {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      isRecord(value) ? mapEntries(value, change) : change(key, value),
    ]),
  );
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(key: string): boolean {
  return key === 'id' || key.endsWith('Id');
}

function isEnum(key: string, value: unknown): boolean {
  return typeof value === 'string' && /(^|S|s)tatus$|^type$|^workMode$|^stepKey$/.test(key);
}

function nulled(value: unknown): unknown {
  return typeof value === 'string' || Array.isArray(value) ? null : value;
}

/** Faults of a call, and the sandbox's reaction to each. */
export const REQUEST_FAULTS = {
  latency: 'waits ms before anything else; combines with the others',
  throttle: '429 without executing; retryAfter (seconds or date) sets the header, left out there is none',
  'server-error': '500 without executing',
  'server-error-after': 'executed, 500 answered',
  'reset-before': 'connection reset, not executed',
  'answer-lost': 'executed, connection reset before the answer',
  'executed-late': 'executed after ms, also when the client has given up',
  'truncated-body': 'executed, the answer breaks off in the middle of the body',
  'html-body': 'executed, a page of HTML answered in place of the body',
  'schema-surprise': 'executed, the first `items` records answered otherwise than the spec shows, see `surprise`',
  'page-drift': 'before a list is read somebody creates a job (jobs) or deletes the first candidate (all others)',
  'revoked-key': '401 without executing',
  'inactive-account': '403 ACCOUNT_INACTIVE without executing',
} as const;

/** Faults of a webhook. */
export const EVENT_FAULTS = {
  'webhook-lost': 'never delivered',
  'webhook-late': 'first attempt ms later',
  'webhook-duplicated': 'delivered twice',
  'webhook-reordered': 'delayed by chance up to ms, so that later ones overtake',
} as const;

type RequestFaultKind = keyof typeof REQUEST_FAULTS;
type EventFaultKind = keyof typeof EVENT_FAULTS;

/** One fault and when it strikes: every condition given must hold. */
export const Fault = z.strictObject({
  kind: z.enum([...Object.keys(REQUEST_FAULTS), ...Object.keys(EVENT_FAULTS)] as [RequestFaultKind | EventFaultKind]),
  /**
   * Operation id (`onboarding.enrol`), a family (`onboarding.*`), or an event name for webhook faults; all when absent.
   */
  on: z.string().min(1).optional(),
  companyId: z.int().optional(),
  /** Only calls whose path, query or body holds this text: the id of one record, say. No webhook holds any. */
  holding: z.string().min(1).optional(),
  /** Only the nth matching call (1-based) since the fault was set, or each of several. */
  nth: z.union([z.int().min(1), z.array(z.int().min(1)).min(1)]).optional(),
  probability: z.number().min(0).max(1).optional(),
  /** Strikes at most this often. */
  times: z.int().min(1).optional(),
  ms: z.int().min(0).max(3_600_000).optional(),
  retryAfter: z.union([z.string(), z.int()]).optional(),
  surprise: z.enum(surpriseNames).optional(),
  items: z.int().min(1).optional(),
});
export type Fault = z.infer<typeof Fault>;

/** A plan of faults; the same seed and the same calls give the same faults. */
export const FaultPlan = z.strictObject({ seed: z.int().optional(), faults: z.array(Fault) });
export type FaultPlan = z.infer<typeof FaultPlan>;

/** The parts of a call that `holding` searches. */
interface Sent {
  url: string;
  body?: string | undefined;
}

interface Armed {
  fault: Fault;
  seen: number;
  struck: number;
}

/** The plan in force, with its counts. */
export class Faults {
  random: Random = createRandom(1);
  #armed: Armed[] = [];

  /** Replaces the plan; counting starts anew. */
  set(plan: FaultPlan): void {
    this.random = createRandom(plan.seed ?? 1);
    this.#armed = plan.faults.map((fault) => ({ fault, seen: 0, struck: 0 }));
  }

  /** Adds to the plan; the counts of the others continue. */
  add(faults: readonly Fault[]): void {
    this.#armed.push(...faults.map((fault) => ({ fault, seen: 0, struck: 0 })));
  }

  clear(): void {
    this.#armed = [];
  }

  /** Each fault with how often it matched and struck. */
  list(): (Fault & { seen: number; struck: number })[] {
    return this.#armed.map(({ fault, seen, struck }) => ({ ...fault, seen, struck }));
  }

  /** The faults that strike this call: its latency, and at most one other fault (the first that fires). */
  forRequest(operation: string, companyId: number, request: Sent): { latencyMs: number; fault: Fault | undefined } {
    let latencyMs = 0;
    let chosen: Fault | undefined;
    for (const armed of this.#armed) {
      if (!(armed.fault.kind in REQUEST_FAULTS)) continue;
      const slows = armed.fault.kind === 'latency';
      if (!this.#strikes(armed, operation, companyId, request, !slows && chosen !== undefined)) continue;
      if (slows) latencyMs += armed.fault.ms ?? 100;
      else chosen = armed.fault;
    }
    return { latencyMs, fault: chosen };
  }

  /** The faults that strike this event; several may. */
  forEvent(event: string, companyId: number): Fault[] {
    return this.#armed
      .filter((armed) => armed.fault.kind in EVENT_FAULTS && this.#strikes(armed, event, companyId, { url: '' }, false))
      .map((armed) => armed.fault);
  }

  #strikes(armed: Armed, name: string, companyId: number, { url, body }: Sent, onlyCount: boolean): boolean {
    const { fault } = armed;
    if (fault.companyId !== undefined && fault.companyId !== companyId) return false;
    if (
      fault.on !== undefined &&
      fault.on !== name &&
      !(fault.on.endsWith('.*') && name.startsWith(fault.on.slice(0, -1)))
    )
      return false;
    if (fault.holding !== undefined && !url.includes(fault.holding) && !body?.includes(fault.holding)) return false;
    armed.seen += 1;
    if (onlyCount) return false;
    if (fault.times !== undefined && armed.struck >= fault.times) return false;
    if (fault.nth !== undefined && ![fault.nth].flat().includes(armed.seen)) return false;
    if (fault.probability !== undefined && this.random() >= fault.probability) return false;
    armed.struck += 1;
    return true;
  }
}
