import { createHmac, timingSafeEqual } from 'node:crypto';
import { rejected } from '../errors.ts';

/** A webhook of an HRIS as received. */
export interface SignedDelivery {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  /** When it arrived, in ms since 1970. */
  at: number;
}

/** How a kind signs its webhooks: one header has the HMAC, and another may have the time. */
export interface WebhookSigning {
  header: string;
  algorithm: 'sha1' | 'sha256' | 'sha512';
  encoding: 'hex' | 'base64';
  /** Text before the signature, such as `sha256=`. */
  prefix: string;
  /** The header with the time, in seconds or ms; a delivery with another time than now is refused. */
  timestamp?: string | undefined;
  /** `{body}`, `{timestamp}.{body}`. */
  signed: string;
  /** Paths to employees' ids, by member names; lists on the way are searched. */
  ids: readonly (readonly string[])[];
}

/** The employees that a webhook names as changed. Its content is not trusted; the records are read again. */
export interface NamedEmployees {
  ids: readonly string[];
  /** The signed time, which tells two deliveries with the same body apart. */
  stamp: string;
}

/**
 * How far a sender's clock may differ from ours. Not shorter, because replaying a recorded delivery is harmless: it is
 * stored once, and the employees it names are only read again.
 */
const WINDOW_MS = 15 * 60_000;
/** Larger times are in ms. */
const MOST_SECONDS = 100_000_000_000;
const BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** Whether the headers fit this kind at this time. Checked before the body is read; says nothing about the key. */
export function looksSigned(signing: WebhookSigning, delivery: Omit<SignedDelivery, 'body'>): boolean {
  return signatureIn(signing, delivery) !== undefined;
}

/** Undefined unless this key, one of `webhookKeys`, signed it just now. Compares in constant time. */
export function readSigned(signing: WebhookSigning, delivery: SignedDelivery, key: string): NamedEmployees | undefined {
  const { body } = delivery;
  const { signature, stamp = '' } = signatureIn(signing, delivery) ?? {};
  if (signature === undefined) return undefined;
  const hmac = createHmac(signing.algorithm, key);
  for (const part of signing.signed.split(/(\{body\}|\{timestamp\})/))
    hmac.update(part === '{body}' ? body : part === '{timestamp}' ? stamp : part);
  if (!timingSafeEqual(signature, hmac.digest())) return undefined;
  const said = parseJson(body);
  return { ids: [...new Set(signing.ids.flatMap((path) => textsAt(said, path)))], stamp };
}

/** Undefined if the form is another, or the time is not now. */
function signatureIn(
  { header, prefix, encoding, algorithm, timestamp }: WebhookSigning,
  { headers, at }: Omit<SignedDelivery, 'body'>,
): { signature: Buffer; stamp: string } | undefined {
  const text = headers[header.toLowerCase()];
  if (typeof text !== 'string' || !text.startsWith(prefix)) return undefined;
  const given = text.slice(prefix.length);
  const signature = Buffer.from(given, encoding);
  // Node drops what does not belong to the encoding.
  const isExact = signature.toString(encoding) === (encoding === 'hex' ? given.toLowerCase() : given);
  if (!isExact || signature.length !== BYTES[algorithm]) return undefined;
  if (timestamp === undefined) return { signature, stamp: '' };
  const stamp = headers[timestamp.toLowerCase()];
  if (typeof stamp !== 'string' || !/^\d{1,13}$/.test(stamp)) return undefined;
  const time = Number(stamp) * (Number(stamp) < MOST_SECONDS ? 1_000 : 1);
  return Math.abs(at - time) > WINDOW_MS ? undefined : { signature, stamp };
}

function textsAt(value: unknown, [name, ...rest]: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  return textsAt((value as Record<string, unknown>)[name], rest);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

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
  throw rejected(
    secretAt === 'notify.secret' ? 'NOTIFY_SECRET_INVALID' : 'EVENTS_SECRET_INVALID',
    `The secret behind ${secretAt} is not ${SHORTEST} to ${LONGEST} bytes in base64, with or without "whsec_" ` +
      'before it. Make one: openssl rand -base64 32',
  );
}
