import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NamedEmployees, SignedDelivery } from '../hris/signed-delivery.ts';
import { type Delivery, HRIS_CHANGED } from '../store/inbox.ts';
import { type BodyLimits, readBody } from './read-body.ts';
import { refusal } from './refusals.ts';

/** Undefined where the tenant's HRIS did not send it. @throws ConnectorError WEBHOOK_KEY_UNREADABLE */
export type ReadHris = (delivery: SignedDelivery) => Promise<NamedEmployees | undefined>;

/**
 * A webhook of the tenant's HRIS. The signature covers the body, so the body is read first. Nothing of it is kept but
 * the ids: it may hold whatever the customer chose to post.
 */
export async function admitHris(
  request: IncomingMessage,
  { id: tenantId, readHris }: { id: string; readHris: ReadHris },
  limits: BodyLimits,
): Promise<Delivery> {
  const body = await readBody(request, limits);
  const named = await readHris({ headers: request.headers, body, at: Date.now() });
  if (named === undefined) throw refusal('HRIS_WEBHOOK_FORGED');
  const bodyHash = createHash('sha256').update(`${named.stamp}.`).update(body).digest('hex');
  return { tenantId, bodyHash, event: HRIS_CHANGED, ids: { employeeId: named.ids }, body: '{}', state: 'waiting' };
}
