import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import type { Tenant } from '../../tenants/schema.ts';
import type { Found } from './check-line.ts';

/** The Employee ID is text, whatever it looks like: a number field takes only digits, the others take none. */
const stateByType: Record<string, Found['state']> = { text: 'ok', textarea: 'ok', number: 'warn' };

/** The custom fields that the tenant writes back to exist for candidates, and the one of the Employee ID takes text. */
export async function checkWriteBack({ writeBack }: Tenant, partner: PartnerClient): Promise<Found> {
  const { customField, values } = writeBack;
  const wanted = [...(customField === undefined ? [] : [customField]), ...values.map((one) => one.customFieldId)];
  if (wanted.length === 0) return { state: 'ok', message: 'No custom field is written back to.' };
  const query = { entityType: 'candidate' } as const;
  const { items } = await partner.readAll(contract.customFields.list, { query }, { priority: 'live' });
  const fields = new Map(items.map((field) => [String(field.id), field]));
  const missing = wanted.filter((id) => fields.get(id)?.entityType !== 'candidate');
  if (missing.length > 0)
    return {
      state: 'fail',
      message:
        `The partner has no candidate custom field ${missing.join(', ')}. ` +
        'Correct writeBack.customField or writeBack.values, or define the field there.',
    };
  return judgeType(customField, String(fields.get(customField ?? '')?.fieldType));
}

function judgeType(customField: string | undefined, type: string): Found {
  const state = customField === undefined ? 'ok' : (stateByType[type] ?? 'fail');
  if (state === 'ok') return { state, message: 'The custom fields that are written back to exist.' };
  const takes = state === 'warn' ? 'takes digits only' : 'takes no text';
  return {
    state,
    message:
      `Custom field ${customField} is of type ${type}, which ${takes}, ` +
      'and the Employee ID is text. Name a text field in writeBack.customField.',
  };
}
