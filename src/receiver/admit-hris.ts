import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NamedEmployees, SignedDelivery } from '../http/signed-delivery.ts';
import { type Delivery, HRIS_CHANGED } from '../store/inbox.ts';
import { type BodyLimits, readBody } from './read-body.ts';
import { refusal } from './refusals.ts';
import type { UnjudgedBodies } from './unjudged-bodies.ts';

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
export async function admitHris(
  request: IncomingMessage,
  { tenantId, looksSigned, read }: HrisAddress & { tenantId: string },
  { limits, unjudged }: { limits: BodyLimits; unjudged: UnjudgedBodies },
): Promise<Delivery> {
  const { headers } = request;
  if (!looksSigned({ headers, at: Date.now() })) throw refusal('HRIS_WEBHOOK_FORGED');
  const place = unjudged.enter(tenantId, request);
  const body = await readBody(request, limits, place).finally(place.leave);
  const named = read({ headers, body, at: Date.now() });
  if (named === undefined) throw refusal('HRIS_WEBHOOK_FORGED');
  const bodyHash = createHash('sha256').update(`${named.stamp}.`).update(body).digest('hex');
  return { tenantId, bodyHash, event: HRIS_CHANGED, ids: { employeeId: named.ids }, body: '{}', state: 'waiting' };
}
