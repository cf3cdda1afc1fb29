import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Delivery } from '../store/inbox.ts';
import { refusal } from './refusals.ts';

/** What the receiver needs of a delivery; payloads are read by the relay. Section 6: companyId is a number, a string or left out. */
const Envelope = z.looseObject({
  event: z.string().min(1).max(200),
  companyId: z.union([z.string(), z.number()]).nullish(),
  data: z.looseObject({}).nullish(),
});

/** What an event's name decides: waiting for the relay, closed (its stream is not built yet) or unknown to the contract. */
export type EventClass = 'waiting' | 'closed' | 'unknown';

export interface EnvelopeContext {
  tenantId: string;
  /** The partner company the tenant file names; events of another are stored and never acted upon. */
  company: string | undefined;
  classify: (event: string) => EventClass;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the envelope of a verified delivery.
 * @throws ConnectorError WEBHOOK_MALFORMED; without a cause, because a parser's message quotes the body
 */
export function readDelivery(bytes: Buffer, context: EnvelopeContext): Delivery {
  const body = decode(bytes);
  const envelope = Envelope.safeParse(parse(body));
  if (!envelope.success) throw refusal('WEBHOOK_MALFORMED');
  const { event, companyId = null } = envelope.data;
  const foreign = context.company !== undefined && companyId !== null && String(companyId) !== context.company;
  return {
    tenantId: context.tenantId,
    // The partner sends no delivery id: a repeated delivery is known by its bytes.
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    event,
    body,
    state: foreign ? 'foreign' : context.classify(event),
  };
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal('WEBHOOK_MALFORMED');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal('WEBHOOK_MALFORMED');
  }
}
