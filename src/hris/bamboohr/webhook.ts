import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { SignedDelivery, SignedWebhooks } from '../signed-delivery.ts';

/**
 * BambooHR's clock and ours may be so far apart. Not shorter, because a recorded delivery that is sent again does no
 * harm: it is stored once, and whom it names is only read again.
 */
const WINDOW_MS = 15 * 60_000;

const Id = z.union([z.string().regex(/^\d+$/), z.int()]).transform(String);
/** Event-based payloads name one employee, field-based ones some. */
const Payload = z.union([
  z.object({ data: z.object({ employeeId: Id }) }).transform(({ data }) => [data.employeeId]),
  z.object({ employees: z.array(z.object({ id: Id })) }).transform(({ employees }) => employees.map(({ id }) => id)),
]);

/** The HMAC-SHA256 of body and time stands in one header, the time in another. */
export const webhooks: SignedWebhooks = {
  looksSigned: (delivery) => signatureIn(delivery) !== undefined,
  read({ headers, body, at }, key) {
    const { signature, stamp } = signatureIn({ headers, at }) ?? {};
    if (signature === undefined || stamp === undefined) return undefined;
    const due = createHmac('sha256', key).update(body).update(stamp).digest();
    if (!timingSafeEqual(Buffer.from(signature, 'hex'), due)) return undefined;
    return { ids: Payload.safeParse(parseJson(body)).data ?? [], stamp };
  },
};

/** Undefined where it is of another form, or where its time is not now. */
function signatureIn({ headers, at }: Omit<SignedDelivery, 'body'>): { signature: string; stamp: string } | undefined {
  const signature = headers['x-bamboohr-signature'];
  const stamp = headers['x-bamboohr-timestamp'];
  if (!isLike(signature, /^[0-9a-f]{64}$/i) || !isLike(stamp, /^\d{1,12}$/)) return undefined;
  return Math.abs(at - Number(stamp) * 1_000) > WINDOW_MS ? undefined : { signature, stamp };
}

function isLike(header: SignedDelivery['headers'][string], form: RegExp): header is string {
  return typeof header === 'string' && form.test(header);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
