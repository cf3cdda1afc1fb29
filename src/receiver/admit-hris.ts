import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NamedEmployees, SignedDelivery } from '../hris/signed-delivery.ts';
import { type Delivery, HRIS_CHANGED } from '../store/inbox.ts';
import { type BodyLimits, readBody } from './read-body.ts';
import { refusal } from './refusals.ts';

/** Undefined where the tenant's HRIS did not send it. @throws ConnectorError WEBHOOK_KEY_UNREADABLE */
export type ReadHris = (delivery: SignedDelivery) => Promise<NamedEmployees | undefined>;

/** Bodies of one tenant that are read at once: who sent them is known only afterwards. */
const MOST_ARRIVING = 8;
const arriving = new Map<string, number>();

/**
 * A webhook of the tenant's HRIS. The signature covers the body, so the body is read first, a few at a time. Nothing of
 * it is kept but the ids: it may hold whatever the customer chose to post.
 */
export async function admitHris(
  request: IncomingMessage,
  { id: tenantId, readHris }: { id: string; readHris: ReadHris },
  limits: BodyLimits,
): Promise<Delivery> {
  const body = await readInTurn(request, tenantId, limits);
  const named = await readHris({ headers: request.headers, body, at: Date.now() });
  if (named === undefined) throw refusal('HRIS_WEBHOOK_FORGED');
  const bodyHash = createHash('sha256').update(`${named.stamp}.`).update(body).digest('hex');
  return { tenantId, bodyHash, event: HRIS_CHANGED, ids: { employeeId: named.ids }, body: '{}', state: 'waiting' };
}

async function readInTurn(request: IncomingMessage, tenantId: string, limits: BodyLimits): Promise<Buffer> {
  const others = arriving.get(tenantId) ?? 0;
  if (others >= MOST_ARRIVING) throw refusal('HRIS_WEBHOOKS_BUSY');
  arriving.set(tenantId, others + 1);
  try {
    return await readBody(request, limits);
  } finally {
    const left = (arriving.get(tenantId) ?? 1) - 1;
    if (left === 0) arriving.delete(tenantId);
    else arriving.set(tenantId, left);
  }
}
