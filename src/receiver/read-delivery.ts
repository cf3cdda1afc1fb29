import { hash } from 'node:crypto';
import { readWebhookEnvelope } from '../partner/webhook.ts';
import type { Delivery } from '../store/inbox.ts';
import { refusal } from './refusals.ts';

/** What an event's name decides: waiting for the relay, ignored, or unknown to the contract. */
export type EventClass = 'waiting' | 'ignored' | 'unknown';

export interface DeliveryContext {
  tenantId: string;
  /** The partner company the tenant file names; events of another are stored and never acted upon. */
  company: string | undefined;
  classify: (event: string) => EventClass;
}

// A repaired body would not be the body that was hashed.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a verified delivery into the row the inbox stores: nobody parses the body after this.
 * @throws ConnectorError WEBHOOK_MALFORMED
 */
export function readDelivery(bytes: Buffer, { tenantId, company, classify }: DeliveryContext): Delivery {
  const body = decode(bytes);
  const envelope = readWebhookEnvelope(body);
  if (envelope === undefined) throw refusal('WEBHOOK_MALFORMED');
  const { event, companyId, ids } = envelope;
  const isOther = company !== undefined && companyId !== undefined && companyId !== company;
  const state = isOther ? 'other-company' : classify(event);
  return {
    tenantId,
    // The partner sends no delivery id: a repeated delivery is known by its bytes.
    bodyHash: hash('sha256', bytes),
    event,
    ids,
    // Nothing reads one but a person who is to say what an unknown event is.
    body: state === 'unknown' ? body : '',
    state,
  };
}

/** No cause is kept: the decoder's message might quote the body. */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal('WEBHOOK_MALFORMED');
  }
}
