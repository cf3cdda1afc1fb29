import type { HrisConnection } from '../../hris/port.ts';
import { fitMapping } from '../../mapping/fit-mapping.ts';
import type { Mapping } from '../../mapping/load-mapping.ts';
import { optionGaps } from '../../mapping/option-gaps.ts';
import { foldLabel } from '../../mapping/read-source.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import type { FieldDefinition } from '../../store/fields.ts';
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
  const absent = requiredDefaults(await loadTenantMapping(tenant), defined);
  if (absent.length > 0)
    return { state: 'fail', message: [...absent, ...troubles.map(({ message }) => message)].join(' ') };
  const gaps = (await loadEveryMapping(tenant)).flatMap((mapping) => optionGaps(mapping, defined));
  const found = [...troubles.map(({ message, reason }) => `${message} [${reason}]`), ...gaps];
  if (found.length === 0) return { state: 'ok', message: 'The custom fields that the files name are there.' };
  return { state: troubles.some(({ blocks }) => blocks) ? 'fail' : 'warn', message: found.join(' ') };
}

/** Rules of the default mapping that no record can fulfil, because the partner has none of the fields they read. */
function requiredDefaults({ fields, files }: Mapping, defined: readonly FieldDefinition[]): string[] {
  return fields.flatMap(({ target, from, required, fallback, at }) => {
    if (!required || fallback !== undefined || from.length === 0 || Object.hasOwn(files, at.file)) return [];
    const [first] = from;
    if (first === undefined || from.some((path) => isThere(path, defined))) return [];
    const labels = defined.filter(({ entity }) => entity === first.source).map(({ label }) => label);
    const there = labels.length === 0 ? 'It has none at all.' : `It has: ${labels.join(', ')}.`;
    return [
      `"${target}" is required, and by the default mapping it comes from ${first.text}, which the hiring platform ` +
        `does not have. ${there} Define it there, or write a rule of your own into the tenant's mapping: ` +
        `${target}: { from: "${first.source}.customFields[...]" }.`,
    ];
  });
}

function isThere(path: Mapping['fields'][number]['from'][number], defined: readonly FieldDefinition[]): boolean {
  if (!('customField' in path)) return true;
  const { customField: wanted, source } = path;
  return defined.some(
    ({ entity, id, label }) => entity === source && (id === wanted || foldLabel(label) === foldLabel(wanted)),
  );
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
