import { ConnectorError } from '../../src/errors.ts';
import type { PartnerClient } from '../../src/partner/client/create-partner-client.ts';
import type { CustomFieldValueInput } from '../../src/partner/contract/custom-fields.ts';

export const NOT_LISTED = 'VALUE_NOT_LISTED';

type Options = Parameters<PartnerClient['customFieldValues']['upsertBulk']>[1];

/**
 * Writes values of custom fields by one request. Returns those that the answer passes over: each is to be sent alone.
 * @throws ConnectorError VALUE_NOT_LISTED if a value that was sent alone is passed over: nobody knows whether it
 * arrived
 */
export async function writeValues(
  partner: PartnerClient,
  body: CustomFieldValueInput[],
  options?: Options,
): Promise<CustomFieldValueInput[]> {
  const left = leftOut(body, await partner.customFieldValues.upsertBulk({ body }, options));
  if (left.length === 0 || body.length > 1) return left;
  throw new ConnectorError({
    code: NOT_LISTED,
    action: 'unknown',
    message:
      'The hiring platform accepted a value of a custom field, and its answer does not list it. The value is read ' +
      'again before anything is sent.',
  });
}

/**
 * Values that an answer which lists values by field and entity does not list: the partner may have passed them over
 * (F3, F12). An answer that lists none, or says less of them, tells nothing, unless it has errors.
 */
function leftOut(
  sent: readonly CustomFieldValueInput[],
  { data, errors }: { data: readonly unknown[]; errors?: unknown },
): CustomFieldValueInput[] {
  const listed = data as readonly { customFieldId?: unknown; entityId?: unknown }[];
  const isNamed = (one: (typeof listed)[number]): boolean => Boolean(one?.customFieldId) && Boolean(one?.entityId);
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  if (!hasErrors && (listed.length === 0 || !listed.every(isNamed))) return [];
  const written = new Set(listed.filter(isNamed).map((one) => `${String(one.customFieldId)} ${String(one.entityId)}`));
  return sent.filter(({ customFieldId, entityId }) => !written.has(`${customFieldId} ${entityId}`));
}
