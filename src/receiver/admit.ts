import { createHash, hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { ConnectorError } from '../errors.ts';
import type { NamedEmployees, SignedDelivery } from '../http/signed-delivery.ts';
import { checkWebhookKey, readWebhookEnvelope } from '../partner/webhook.ts';
import { type Delivery, HRIS_CHANGED } from '../store/inbox.ts';

/** A tenant as the receiver knows it. */
export interface ReceiverTenant {
  id: string;
  /** The tenant was removed: the sender may stop. */
  removed?: boolean;
  /**
   * Keys accepted now: one, or two during a rotation. An empty list accepts nothing. `anew` reads them again first.
   * @throws ConnectorError WEBHOOK_KEY_UNREADABLE
   */
  webhookKeys: (anew: boolean) => readonly string[];
  /** The partner's company id, if the tenant file names it. */
  company?: string;
  /** Absent if no webhooks of the tenant's HRIS are accepted. */
  hris?: HrisAddress;
  /** The partner sends no webhooks to this tenant; only its HRIS does. */
  hrisAlone?: boolean;
}

export interface Admission {
  tenants: (id: string) => ReceiverTenant | undefined;
  limits: BodyLimits;
  /** For bodies under way: those of verified senders, and the others. */
  verified: SharedMemory;
  unjudged: SharedMemory;
  classify: (event: string) => EventClass;
}

/** A tenant's address, and below it the address for its HRIS. */
const PATH = /^\/webhooks\/([A-Za-z0-9][A-Za-z0-9._-]{0,99})(\/hris)?\/?$/;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** The tenant in an address. @throws ConnectorError WEBHOOK_PATH_UNKNOWN, WEBHOOK_TENANT_REMOVED */
export function findTenant(request: IncomingMessage, tenants: Admission['tenants']): ReceiverTenant {
  const [, id = ''] = placesIn(request);
  const tenant = tenants(id);
  if (tenant === undefined || !hasAddress(tenant, isOfHris(request))) throw refusal('WEBHOOK_PATH_UNKNOWN');
  if (tenant.removed === true) throw refusal('WEBHOOK_TENANT_REMOVED');
  return tenant;
}

function placesIn({ url = '' }: IncomingMessage): readonly (string | undefined)[] {
  return PATH.exec(url.split('?', 1)[0] ?? '') ?? [];
}

export function isOfHris(request: IncomingMessage): boolean {
  return placesIn(request)[2] !== undefined;
}

function hasAddress({ hris, hrisAlone }: ReceiverTenant, ofHris: boolean): boolean {
  return ofHris ? hris !== undefined : hrisAlone !== true;
}

/**
 * The checks after the address, in a fixed order: method, type, declared size, key, body (counted and timed), envelope.
 * The key is in a header, so it is checked before the body is read: senders without one can neither fill memory nor
 * hold a socket.
 */
export async function admit(request: IncomingMessage, tenant: ReceiverTenant, admission: Admission): Promise<Delivery> {
  if (request.method !== 'POST') throw refusal('WEBHOOK_METHOD_WRONG');
  if (!isPlainJson(request)) throw refusal('WEBHOOK_TYPE_WRONG');
  if (declaresTooMuch(request, admission.limits.maxBytes)) throw refusal('WEBHOOK_TOO_LARGE');
  const { id: tenantId, hris } = tenant;
  if (hris !== undefined && isOfHris(request)) return admitHris(request, { tenantId, ...hris }, admission);
  if (!holdsKey(request, tenant)) throw refusal('WEBHOOK_KEY_WRONG');
  const place = admission.verified.enter(tenantId, 0);
  const bytes = await readBody(request, admission.limits, { place, isVerified: true });
  return readDelivery(bytes, { tenantId: tenant.id, company: tenant.company, classify: admission.classify });
}

function isPlainJson(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' && JSON_TYPE.test(request.headers['content-type'] ?? '');
}

/** An unknown key may be the result of a rotation: the references are read again before it is refused. */
function holdsKey(request: IncomingMessage, tenant: ReceiverTenant): boolean {
  const given = request.headers['x-webhook-key'];
  return [false, true].some((anew) => checkWebhookKey(given, tenant.webhookKeys(anew)));
}

/** Memory for what many senders have under way. */
interface SharedMemory {
  /** Takes another place for whoever has this name. */
  enter(name: string, bytes: number): Place;
  /** Places taken now. */
  count(): number;
}

interface Place {
  grow(bytes: number): void;
  /** Aborts if others need its memory. */
  turnedOut: AbortSignal;
  leave(): void;
}

interface Sender {
  bytes: number;
  /** Oldest first. */
  places: Set<{ bytes: number; turnOut: () => void }>;
}

/**
 * No sender is locked out: when memory runs out, the name that uses most of it loses a place, its oldest or its newest.
 */
export function createSharedMemory(mostBytes: number, loses: 'oldest' | 'newest'): SharedMemory {
  const senders = new Map<string, Sender>();
  const end = loses === 'oldest' ? 0 : -1;
  let [held, count] = [0, 0];
  function makeRoom(): void {
    while (held > mostBytes) {
      const all = [...senders.values()];
      const most = Math.max(...all.map(({ bytes }) => bytes));
      const greediest = all.filter(({ bytes }) => bytes === most).at(end);
      const place = [...(greediest?.places ?? [])].at(end);
      if (place === undefined) return;
      place.turnOut();
    }
  }
  return {
    count: () => count,
    enter(name, bytes) {
      const sender = senders.get(name) ?? { bytes: 0, places: new Set() };
      senders.set(name, sender);
      const turningOut = new AbortController();
      const place = { bytes: 0, turnOut };
      const grow = (more: number): void => {
        if (!sender.places.has(place)) return;
        place.bytes += more;
        sender.bytes += more;
        held += more;
        makeRoom();
      };
      function leave(): void {
        if (!sender.places.delete(place)) return;
        count -= 1;
        sender.bytes -= place.bytes;
        held -= place.bytes;
        if (sender.places.size === 0) senders.delete(name);
      }
      function turnOut(): void {
        leave();
        turningOut.abort(new Error('Others needed its memory.'));
      }
      sender.places.add(place);
      count += 1;
      grow(bytes);
      return { grow, leave, turnedOut: turningOut.signal };
    },
  };
}

/** The cost of a body that has just begun: its socket and request. */
const PLACE_BYTES = 16_384;

/** Takes a place for a sender who is not verified yet, shared with those at the same address. */
export function enterUnjudged({ socket }: IncomingMessage, unjudged: SharedMemory, tenantId = ''): Place {
  return unjudged.enter(`${tenantId} ${networkOf(socket.remoteAddress)}`, PLACE_BYTES);
}

/** An IPv4 address, or the network of an IPv6 address, since its owner has every address in it. */
function networkOf(address = ''): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}

interface BodyLimits {
  maxBytes: number;
  /** From the end of the headers to the last byte; slow single bytes do not extend it. */
  maxMs: number;
}

/** The body of a sender that is not verified yet is given up if it is slower than this, whatever time is left. */
const LEAST_BYTES_A_SECOND = 1_000;

/** True if the declared length exceeds the limit, so that nothing has to be read. */
function declaresTooMuch(request: IncomingMessage, maxBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > maxBytes;
}

/**
 * Reads the raw body while counting, so that an undeclared (chunked) length is limited as well.
 * @throws ConnectorError WEBHOOK_TOO_LARGE, WEBHOOK_TOO_SLOW, WEBHOOK_ABORTED or WEBHOOKS_BUSY
 */
function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  { place, isVerified }: { place: Place; isVerified: boolean },
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const tooSlow = (): void => reject(refusal('WEBHOOK_TOO_SLOW'));
  const timer = setTimeout(tooSlow, limits.maxMs);
  let before = 0;
  const judgePace = (): void => {
    if (size - before < LEAST_BYTES_A_SECOND) tooSlow();
    before = size;
  };
  // A verified sender has the whole time: after its fourth attempt, the delivery is lost.
  const pulse = isVerified ? undefined : setInterval(judgePace, 1_000);
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    place.grow(chunk.length);
    if (size > limits.maxBytes) reject(refusal('WEBHOOK_TOO_LARGE'));
    else chunks.push(chunk);
  };
  request.on('data', take);
  request.once('error', (error) => reject(refusal('WEBHOOK_ABORTED', error)));
  const turnOut = (): void => reject(refusal('WEBHOOKS_BUSY'));
  if (place.turnedOut.aborted) turnOut();
  place.turnedOut.addEventListener('abort', turnOut, { once: true });
  const closed = (): void => reject(refusal('WEBHOOK_ABORTED'));
  request.once('close', closed);
  request.once('end', () => {
    // Every request closes in the end: creating an error for those already read would cost more than reading them.
    request.off('close', closed);
    resolve(Buffer.concat(chunks, size));
  });
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(pulse);
    request.off('data', take);
    request.off('close', closed);
    place.leave();
  });
}

/** Where webhooks of a tenant's HRIS arrive. */
export interface HrisAddress {
  looksSigned(delivery: Omit<SignedDelivery, 'body'>): boolean;
  /** Undefined unless the tenant's HRIS sent it. @throws ConnectorError WEBHOOK_KEY_UNREADABLE */
  read(delivery: SignedDelivery): NamedEmployees | undefined;
}

/**
 * Admits a webhook of the tenant's HRIS. The signature covers the body, so the body is read before the sender is
 * verified, within the limit for such bodies. Only the ids are kept, because the customer's HRIS may post anything.
 */
async function admitHris(
  request: IncomingMessage,
  { tenantId, looksSigned, read }: HrisAddress & { tenantId: string },
  { limits, unjudged }: Admission,
): Promise<Delivery> {
  const { headers } = request;
  if (!looksSigned({ headers, at: Date.now() })) throw refusal('HRIS_WEBHOOK_FORGED');
  const place = enterUnjudged(request, unjudged, tenantId);
  const body = await readBody(request, limits, { place, isVerified: false });
  const named = read({ headers, body, at: Date.now() });
  if (named === undefined) throw refusal('HRIS_WEBHOOK_FORGED');
  const bodyHash = createHash('sha256').update(`${named.stamp}.`).update(body).digest('hex');
  return { tenantId, bodyHash, event: HRIS_CHANGED, ids: { employeeId: named.ids }, body: '{}', state: 'waiting' };
}

/** The state that an event's name decides: waiting for the relay, ignored, or unknown to the contract. */
export type EventClass = 'waiting' | 'ignored' | 'unknown';

interface DeliveryContext {
  tenantId: string;
  /** The partner company in the tenant file; events of another company are stored but never acted upon. */
  company: string | undefined;
  classify: (event: string) => EventClass;
}

// Invalid UTF-8 is refused: a repaired body would differ from the hashed one.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Converts a verified delivery to its inbox row: nothing parses the body after this.
 * @throws ConnectorError WEBHOOK_MALFORMED
 */
export function readDelivery(bytes: Buffer, { tenantId, company, classify }: DeliveryContext): Delivery {
  const body = decode(bytes);
  const envelope = readWebhookEnvelope(body);
  if (envelope === undefined) throw refusal('WEBHOOK_MALFORMED');
  const { event, companyId, ids, isUnread } = envelope;
  const isOther = company !== undefined && companyId !== undefined && companyId !== company;
  const state = isOther ? 'other-company' : isUnread === true ? 'unknown' : classify(event);
  return {
    tenantId,
    // The partner sends no delivery id, so a repeated delivery is recognised by its bytes.
    bodyHash: hash('sha256', bytes),
    event,
    ids,
    // Only a person who examines an unknown event needs the body.
    body: state === 'unknown' ? body : '',
    state,
  };
}

/** Drops the cause: the decoder's message might quote the body. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal('WEBHOOK_MALFORMED');
  }
}

/** Every refusal of a delivery, in the order of the checks: code -> HTTP status and message to the sender. */
const REFUSALS = {
  WEBHOOK_PATH_UNKNOWN: [404, 'No tenant of this installation receives webhooks at this address.'],
  WEBHOOK_TENANT_REMOVED: [410, 'The tenant of this address was removed. Send it no more webhooks.'],
  WEBHOOK_METHOD_WRONG: [405, 'Webhooks arrive by POST.'],
  WEBHOOK_TYPE_WRONG: [415, 'Webhooks carry application/json without a content encoding.'],
  WEBHOOK_TOO_LARGE: [413, 'The delivery is larger than this receiver accepts.'],
  WEBHOOK_KEY_WRONG: [401, 'The webhook key is missing or does not belong to this tenant.'],
  HRIS_WEBHOOK_FORGED: [401, 'The signature matches no key under hris.webhookKeys, or its time is too far from now.'],
  WEBHOOKS_BUSY: [503, 'The receiver was full and gave up this delivery. Send it again.'],
  WEBHOOK_TOO_SLOW: [408, 'The body did not arrive in time.'],
  WEBHOOK_ABORTED: [400, 'The connection ended before the body was complete.'],
  WEBHOOK_MALFORMED: [400, 'The body is not a JSON object with an event name.'],
  WEBHOOK_KEY_UNREADABLE: [503, "The tenant's webhook key cannot be read now. Send the delivery again."],
  STORE_UNAVAILABLE: [503, 'The delivery could not be stored. Send it again.'],
} as const satisfies Record<string, readonly [number, string]>;

type RefusalCode = keyof typeof REFUSALS;

/** The error for a refused delivery; its `status` is the answer's. Never contains the key or a part of the body. */
export function refusal(code: RefusalCode, cause?: unknown): ConnectorError {
  const [status, message] = REFUSALS[code];
  return new ConnectorError({ code, action: status === 503 ? 'retry' : 'reject', status, message, cause });
}

/** Records refused deliveries of known tenants for `status` and `check`. */
export interface RefusalNotes {
  note(tenantId: string, reason: string): void;
  /** Sets where to write; until then refusals are only counted. */
  writeTo(write: (refusals: readonly NotedRefusal[]) => Promise<void>): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

interface NotedRefusal {
  tenantId: string;
  reason: string;
  count: number;
}

/**
 * Counts in memory and writes at most once in `everyMs`: a sender of rubbish costs the store one statement a second
 * instead of one per delivery. A failed write is lost, since it is not worth a retry.
 */
export function createRefusalNotes(everyMs = 1_000): RefusalNotes {
  let write: ((refusals: readonly NotedRefusal[]) => Promise<void>) | undefined;
  const counts = new Map<string, NotedRefusal>();
  let timer: NodeJS.Timeout | undefined;
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (write === undefined) return;
    const noted = [...counts.values()];
    counts.clear();
    if (noted.length > 0) await write(noted).catch(() => undefined);
  }
  return {
    note(tenantId, reason) {
      const key = `${tenantId} ${reason}`;
      counts.set(key, { tenantId, reason, count: (counts.get(key)?.count ?? 0) + 1 });
      timer ??= setTimeout(() => void flush(), everyMs);
    },
    writeTo(where) {
      write = where;
      void flush();
    },
    close: flush,
  };
}
