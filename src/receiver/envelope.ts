import { createHash } from 'node:crypto';
import { readWebhookEnvelope } from '../partner/webhook.ts';
import type { Delivery } from '../store/inbox.ts';
import { refusal } from './refusals.ts';

/** What an event's name decides: waiting for the relay, closed (its stream is not built yet) or unknown to the contract. */
export type EventClass = 'waiting' | 'ignored' | 'unknown';

export interface EnvelopeContext {
  tenantId: string;
  /** The partner company the tenant file names; events of another are stored and never acted upon. */
  company: string | undefined;
  classify: (event: string) => EventClass;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a verified delivery as far as the inbox needs it; the relay reads the rest.
 * @throws ConnectorError WEBHOOK_MALFORMED
 */
export function readDelivery(bytes: Buffer, context: EnvelopeContext): Delivery {
  const { body, event, companyId } = read(bytes);
  const foreign = context.company !== undefined && companyId !== undefined && companyId !== context.company;
  return {
    tenantId: context.tenantId,
    // The partner sends no delivery id: a repeated delivery is known by its bytes.
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    event,
    body,
    state: foreign ? 'other-company' : context.classify(event),
  };
}

/** Strict UTF-8: a repaired body would not be the body that was hashed. No cause, because a parser's message quotes the body. */
function read(bytes: Buffer): { body: string; event: string; companyId?: string } {
  try {
    const body = utf8.decode(bytes);
    return { body, ...readWebhookEnvelope(body) };
  } catch {
    throw refusal('WEBHOOK_MALFORMED');
  }
}
