import { ConnectorError } from '../errors.ts';

/** Every refusal of a delivery, in the order of the checks: code -> HTTP status and message to the sender. */
const REFUSALS = {
  WEBHOOK_PATH_UNKNOWN: [404, 'No tenant of this installation receives webhooks at this address.'],
  WEBHOOK_TENANT_REMOVED: [410, 'The tenant of this address was removed. Send it no more webhooks.'],
  WEBHOOK_METHOD_WRONG: [405, 'Webhooks arrive by POST.'],
  WEBHOOK_TYPE_WRONG: [415, 'Webhooks carry application/json without a content encoding.'],
  WEBHOOK_TOO_LARGE: [413, 'The delivery is larger than this receiver accepts.'],
  WEBHOOK_KEY_WRONG: [401, 'The webhook key is missing or does not belong to this tenant.'],
  HRIS_WEBHOOK_FORGED: [401, 'The signature matches no key under hris.webhookKeys, or its time is too far from now.'],
  WEBHOOKS_BUSY: [503, 'The receiver was full and gave up this delivery while its body arrived. Send it again.'],
  WEBHOOK_TOO_SLOW: [408, 'The body did not arrive in time.'],
  WEBHOOK_ABORTED: [400, 'The connection ended before the body was complete.'],
  WEBHOOK_MALFORMED: [400, 'The body is not a JSON object with an event name.'],
  WEBHOOK_KEY_UNREADABLE: [503, "The tenant's webhook key cannot be read now. Send the delivery again."],
  STORE_UNAVAILABLE: [503, 'The delivery could not be stored. Send it again.'],
} as const satisfies Record<string, readonly [number, string]>;

export type RefusalCode = keyof typeof REFUSALS;

/** The error for a refused delivery; its `status` is the answer's. Never contains the key or a part of the body. */
export function refusal(code: RefusalCode, cause?: unknown): ConnectorError {
  const [status, message] = REFUSALS[code];
  return new ConnectorError({ code, action: status === 503 ? 'retry' : 'reject', status, message, cause });
}
