import type { HrisConnection } from '../../hris/port.ts';
import { fitMapping } from '../../mapping/fit-mapping.ts';
import { optionGaps } from '../../mapping/option-gaps.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import type { Store } from '../../store/open-store.ts';
import { loadEveryMapping, loadTenantMapping } from '../../tenants/open-hris.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { judgeCustomFields, readCustomFields } from '../mappings/discover.ts';
import { CALL_MS } from '../open-partner.ts';
import type { Found } from './check-line.ts';

/** The partner's end: every custom field that the tenant's files name, and every option of it. */
export async function checkCustomFields(
  tenant: Tenant,
  partner: PartnerClient,
  store: Store | undefined,
): Promise<Found> {
  const defined = await readCustomFields(partner);
  const troubles = await judgeCustomFields(tenant, defined, store);
  const gaps = (await loadEveryMapping(tenant)).flatMap((mapping) => optionGaps(mapping, defined));
  const found = [...troubles.map(({ message, reason }) => `${message} [${reason}]`), ...gaps];
  if (found.length === 0) return { state: 'ok', message: 'The custom fields that the files name are there.' };
  return { state: troubles.some(({ blocks }) => blocks) ? 'fail' : 'warn', message: found.join(' ') };
}

/** The HR system's end: types, lengths, values and required fields as they are there now. */
export async function checkHrisFields(tenant: Tenant, hris: HrisConnection): Promise<Found> {
  const described = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
  if (described.length === 0) return { state: 'ok', message: 'The HR system does not describe its fields.' };
  const { misfits } = fitMapping(await loadTenantMapping(tenant), described);
  if (misfits.length > 0) return { state: 'fail', message: misfits.map(({ text }) => text).join(' ') };
  const required = described.filter((field) => field.required).length;
  return { state: 'ok', message: `The mapping fits ${described.length} fields, the ${required} required ones filled.` };
}
