import { createHmac } from 'node:crypto';
import { ConnectorError } from '../errors.ts';

/** Key lengths that Standard Webhooks allows, bytes. */
const SHORTEST = 24;
const LONGEST = 64;

/**
 * Headers of a notification by Standard Webhooks (standardwebhooks.com), so that a receiver can check it with any
 * library for that. The id stays the same at each repeat; without a secret there is no signature.
 * @throws ConnectorError NOTIFY_SECRET_INVALID, EVENTS_SECRET_INVALID
 */
export function noticeHeaders(
  id: string,
  body: string,
  secret: string | undefined,
  secretAt: 'notify.secret' | 'events.secret' = 'notify.secret',
  now = new Date(),
): Record<string, string> {
  const timestamp = `${Math.floor(now.getTime() / 1_000)}`;
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const signature = createHmac('sha256', keyOf(secret, secretAt)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

function keyOf(secret: string, secretAt: 'notify.secret' | 'events.secret'): Buffer {
  const text = secret.replace(/^whsec_/, '');
  const key = Buffer.from(text, 'base64');
  if (/^[A-Za-z0-9+/]+=*$/.test(text) && key.length >= SHORTEST && key.length <= LONGEST) return key;
  throw new ConnectorError({
    code: secretAt === 'notify.secret' ? 'NOTIFY_SECRET_INVALID' : 'EVENTS_SECRET_INVALID',
    action: 'reject',
    message:
      `The secret behind ${secretAt} is not ${SHORTEST} to ${LONGEST} bytes in base64, with or without "whsec_" ` +
      'before it. Make one: openssl rand -base64 32',
  });
}
