import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NamedEmployees, SignedDelivery } from '../hris/signed-delivery.ts';
import { type Delivery, HRIS_CHANGED } from '../store/inbox.ts';
import { type BodyLimits, readBody } from './read-body.ts';
import { refusal } from './refusals.ts';
import type { Room } from './room.ts';

/** Where webhooks of a tenant's HRIS arrive. */
export interface HrisAddress {
  /** Undefined where the tenant's HRIS did not send it. @throws ConnectorError WEBHOOK_KEY_UNREADABLE */
  read(delivery: SignedDelivery): Promise<NamedEmployees | undefined>;
  /** For the bodies that are read at once: who sent them is known only afterwards. */
  room: Room;
}

/**
 * A webhook of the tenant's HRIS. The signature covers the body, so the body is read first, a few at a time. Nothing of
 * it is kept but the ids: it may hold whatever the customer chose to post.
 */
export async function admitHris(
  request: IncomingMessage,
  { tenantId, read, room }: HrisAddress & { tenantId: string },
  limits: BodyLimits,
): Promise<Delivery> {
  const leave = room.enter(0);
  const body = await readBody(request, limits).finally(leave);
  const named = await read({ headers: request.headers, body, at: Date.now() });
  if (named === undefined) throw refusal('HRIS_WEBHOOK_FORGED');
  const bodyHash = createHash('sha256').update(`${named.stamp}.`).update(body).digest('hex');
  return { tenantId, bodyHash, event: HRIS_CHANGED, ids: { employeeId: named.ids }, body: '{}', state: 'waiting' };
}
