import { expect, test } from 'vitest';
import { checkWriteBack } from '../../../src/operator/check-tenant.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { scriptedPartner } from '../../partner/client/scripted-partner.ts';

const fields = ['text', 'number', 'date'].map((fieldType) => ({
  id: `cf_${fieldType}`,
  entityType: 'candidate',
  fieldLabel: fieldType,
  fieldType,
}));

test.each([
  ['no custom field', {}, 'ok', /^Nothing is written back/],
  ['a text field', { customField: 'cf_text' }, 'ok', /exist/],
  ['a number field', { customField: 'cf_number' }, 'warn', /cf_number is of type number, which takes digits only/],
  ['a date field', { customField: 'cf_date' }, 'fail', /cf_date is of type date.*writeBack\.customField/],
  ['a field of a job', { customField: 'cf_job' }, 'fail', /no candidate custom field cf_job/],
  ['a mapped value', { values: [{ customFieldId: 'gone', field: 'email' }] }, 'fail', /no candidate custom field gone/],
] as const)('what is written back to is looked for at the partner: %s', async (_what, given, state, says) => {
  const job = { id: 'cf_job', entityType: 'job', fieldLabel: 'Level', fieldType: 'text' };
  const { partner } = await scriptedPartner(() => ({ json: { status: 'success', data: [...fields, job] } }));
  const tenant = { writeBack: { values: [], ...given } } as unknown as Tenant;
  const found = await checkWriteBack(tenant, partner);
  expect(found.state).toBe(state);
  expect(found.message).toMatch(says);
});
