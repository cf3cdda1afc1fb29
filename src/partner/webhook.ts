import { hash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseJsonText } from './client/json-text.ts';
import { allIdsOf, type EventIds } from './contract/events.ts';

/**
 * True when X-Webhook-Key is one of the tenant's keys (two are valid during a rotation). Constant time: digests of one
 * length are compared, every key each time. A missing or empty header, or an empty key, never matches (section 6: "may
 * be empty if none set").
 */
export function checkWebhookKey(headerValue: string | string[] | undefined, keys: readonly string[]): boolean {
  if (typeof headerValue !== 'string' || headerValue === '') return false;
  const given = digest(headerValue);
  let right = false;
  for (const key of digestsOf(keys)) right = timingSafeEqual(given, key) || right;
  return right;
}

/** For key lists that are checked with every delivery, with their keys at the time of hashing. */
const known = new WeakMap<readonly string[], { keys: readonly string[]; digests: readonly Buffer[] }>();

function digestsOf(keys: readonly string[]): readonly Buffer[] {
  const held = known.get(keys);
  // A caller may keep one list and change it: a key taken out of it must not stay right.
  if (held !== undefined && held.keys.length === keys.length && held.keys.every((key, at) => key === keys[at]))
    return held.digests;
  const digests = keys.map(digest);
  known.set(keys, { keys: [...keys], digests });
  return digests;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** The trusted part of a delivery: all its other data is only a hint. */
export interface WebhookEnvelope {
  event: string;
  /** Number or text in the body (section 6), text here; some examples omit it. */
  companyId?: string;
  ids: EventIds;
  /** The data is no object, as it should be (section 6): it may say more than its ids. */
  isUnread?: true;
}

const Id = z.union([z.string().min(1), z.number()]).transform(String);
const Body = z.looseObject({
  event: z.string().min(1).max(200),
  companyId: Id.nullish().catch(undefined),
  // Not every payload is shown, and whoever refuses an event for the form of its data loses it.
  data: z.unknown().optional(),
});

/** Reads a delivery's body; undefined if it is no event at all. Unknown events are read like known ones. */
export function readWebhookEnvelope(body: string): WebhookEnvelope | undefined {
  const parsed = Body.safeParse(parseJsonText(body));
  if (!parsed.success) return undefined;
  const { event, companyId, data } = parsed.data;
  // In the form that every database accepts.
  const name = event.toWellFormed().replaceAll('\0', '\uFFFD');
  const isUnread = Array.isArray(data) || typeof (data ?? {}) !== 'object';
  return {
    event: name,
    ...(typeof companyId === 'string' ? { companyId } : {}),
    ids: allIdsOf(data),
    ...(isUnread ? { isUnread } : {}),
  };
}
