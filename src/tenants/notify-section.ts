import { IANAZone } from 'luxon';
import { z } from 'zod';
import { secretRef } from './secrets.ts';

export interface Notify {
  url: string;
  /** Signs what is sent. */
  secret?: string | undefined;
  /** When the tenant's day is sent, HH:MM in its time zone. */
  digest?: string | undefined;
  timezone: string;
}

export const timezone = z
  .string()
  .refine((zone) => IANAZone.isValidZone(zone), 'expected a time zone such as Europe/Berlin');

const address = z.url({ protocol: /^https?$/, error: 'expected an https address' });

/** Where new holds and alarms are told: an address, or with it a secret to sign them and the time of a daily digest. */
export const notify = z.union(
  [
    address.transform((url): Notify => ({ url, timezone: 'UTC' })),
    z.strictObject({
      url: address,
      secret: secretRef.optional(),
      digest: z
        .string('expected a time in quotes such as "08:00"')
        .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time in quotes such as "08:00"')
        .optional(),
      timezone: timezone.default('UTC'),
    }),
  ],
  'expected an https address, or { url, secret, digest, timezone }',
);
