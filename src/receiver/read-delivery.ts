import { hash } from 'node:crypto';
import { readWebhookEnvelope } from '../partner/webhook.ts';
import type { Delivery } from '../store/inbox.ts';
import { refusal } from './refusals.ts';

/** The state that an event's name decides: waiting for the relay, ignored, or unknown to the contract. */
export type EventClass = 'waiting' | 'ignored' | 'unknown';

export interface DeliveryContext {
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
  const { event, companyId, ids } = envelope;
  const isOther = company !== undefined && companyId !== undefined && companyId !== company;
  const state = isOther ? 'other-company' : classify(event);
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
