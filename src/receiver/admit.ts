import type { IncomingMessage } from 'node:http';
import { checkWebhookKey } from '../partner/webhook.ts';
import type { Delivery } from '../store/inbox.ts';
import { admitHris, type HrisAddress } from './admit-hris.ts';
import { type BodyLimits, declaresTooMuch, readBody } from './read-body.ts';
import { type EventClass, readDelivery } from './read-delivery.ts';
import { refusal } from './refusals.ts';
import type { UnjudgedBodies } from './unjudged-bodies.ts';

/** A tenant as the receiver knows it. */
export interface ReceiverTenant {
  id: string;
  /** The tenant was removed: the sender may stop. */
  removed?: boolean;
  /**
   * Keys accepted now: one, or two during a rotation. An empty list accepts nothing, unless `keyless`. `anew` reads
   * them again first.
   * @throws ConnectorError WEBHOOK_KEY_UNREADABLE
   */
  webhookKeys: (anew: boolean) => readonly string[];
  /** The tenant file states explicitly that its partner account has no webhook key. */
  keyless?: boolean;
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
  unjudged: UnjudgedBodies;
  classify: (event: string) => EventClass;
}

/** A tenant's address, and below it the address for its HRIS. */
const PATH = /^\/webhooks\/([A-Za-z0-9][A-Za-z0-9._-]{0,99})(\/hris)?$/;
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

function isOfHris(request: IncomingMessage): boolean {
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
  // Without a key, the sender is never verified.
  const place = tenant.keyless === true ? admission.unjudged.enter(tenantId, request) : undefined;
  const bytes = await readBody(request, admission.limits, place).finally(place?.leave);
  return readDelivery(bytes, { tenantId: tenant.id, company: tenant.company, classify: admission.classify });
}

function isPlainJson(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' && JSON_TYPE.test(request.headers['content-type'] ?? '');
}

/** An unknown key may be the result of a rotation: the references are read again before it is refused. */
function holdsKey(request: IncomingMessage, tenant: ReceiverTenant): boolean {
  const given = request.headers['x-webhook-key'];
  return [false, true].some((anew) => {
    const keys = tenant.webhookKeys(anew);
    if (keys.length === 0) return tenant.keyless === true;
    return typeof given === 'string' && checkWebhookKey(given, keys);
  });
}
