import { createHash } from 'node:crypto';
import { z } from 'zod';
import { refusal } from './refusals.ts';

/** What the receiver needs of a delivery; payloads are read by the relay. Section 6: companyId is a number, a string or left out. */
const Envelope = z.looseObject({
  event: z.string().min(1).max(200),
  companyId: z.union([z.string(), z.number()]).nullish(),
  data: z.looseObject({}).nullish(),
});

/** One accepted delivery, as the inbox stores it. */
export interface Delivery {
  tenantId: string;
  /** SHA-256 of the raw bytes, hex: the partner sends no delivery id, so this is what a repeated delivery is known by. */
  bodyHash: string;
  event: string;
  /** The raw body as text. */
  body: string;
  /** UTC ISO text. */
  receivedAt: string;
  /** The contract does not name this event: stored and answered, read by nobody yet. */
  unknown: boolean;
  /** The tenant file names a partner company and the event another one: stored, never acted upon. */
  foreign: boolean;
}

export interface EnvelopeContext {
  tenantId: string;
  company: string | undefined;
  knownEvents: ReadonlySet<string>;
  receivedAt: string;
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
  return {
    tenantId: context.tenantId,
    bodyHash: createHash('sha256').update(bytes).digest('hex'),
    event,
    body,
    receivedAt: context.receivedAt,
    unknown: !context.knownEvents.has(event),
    foreign: context.company !== undefined && companyId !== null && String(companyId) !== context.company,
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
