import type { CompiledField } from '../../mapping/compile-rule.ts';
import type { Mapping } from '../../mapping/load-mapping.ts';
import type { FieldTrouble } from '../../mapping/match-fields.ts';
import { foldLabel } from '../../mapping/read-source.ts';
import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import type { CustomFieldDefinition } from '../../partner/contract/custom-fields.ts';
import { assertMayWrite } from '../../store/assert-may-write.ts';
import { type FieldDefinition, readMatches } from '../../store/fields.ts';
import type { Store } from '../../store/open-store.ts';
import { loadEveryMapping } from '../../tenants/open-hris.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { judgeCustomFields, readCustomFields } from './discover.ts';

/** What the partner lacks for the tenant's mappings: a field to create, or options to add to one. */
type MissingDefinition =
  | { what: 'field'; body: CustomFieldDefinition }
  | { what: 'options'; fieldId: string; label: string; options: string[] };

/** Lookups in a file name what the HR system calls values; only a table in the rule is short enough to be options. */
const MOST_OPTIONS = 50;

/**
 * Custom fields that the mappings name and the partner never had, and options that lookups name or that were removed.
 * Only what is missing at the partner: an HR system's values are never changed.
 */
function planDefinitions(
  mappings: readonly Mapping[],
  defined: readonly FieldDefinition[],
  { troubles, known }: { troubles: readonly FieldTrouble[]; known: ReadonlyMap<string, FieldDefinition> },
): MissingDefinition[] {
  const planned = new Map<string, MissingDefinition>();
  for (const { field, path } of mappings.flatMap(fieldPaths)) {
    const unknown = troubles.some((one) => one.path === path.text && one.reason === 'FIELD_UNKNOWN');
    const there = defined.find((one) => isMeant(one, path));
    const missing = unknown
      ? { what: 'field' as const, body: definitionFor(field, path.source, path.customField) }
      : there && extension(field, there, known.get(path.text));
    if (missing !== undefined && !planned.has(path.text)) planned.set(path.text, missing);
  }
  return [...planned.values()];
}

function fieldPaths({ fields }: Mapping) {
  return fields.flatMap((field) => field.from.flatMap((path) => ('customField' in path ? [{ field, path }] : [])));
}

function extension(
  field: CompiledField,
  there: FieldDefinition,
  known: FieldDefinition | undefined,
): MissingDefinition | undefined {
  const options = missingOptions(field, there, known);
  if (options.length === 0) return undefined;
  return { what: 'options', fieldId: there.id, label: there.label, options: [...(there.options ?? []), ...options] };
}

/** Makes at the partner what is missing there, and says what that was. A frozen tenant is refused. */
export async function applyMissingDefinitions(
  tenant: Tenant,
  partner: PartnerClient,
  store: Store | undefined,
): Promise<MissingDefinition[]> {
  if (store !== undefined) await assertMayWrite(store, tenant.tenant);
  const defined = await readCustomFields(partner);
  const troubles = await judgeCustomFields(tenant, defined, store);
  const known = store === undefined ? new Map<string, FieldDefinition>() : await readMatches(store, tenant.tenant);
  const missing = planDefinitions(await loadEveryMapping(tenant), defined, { troubles, known });
  for (const one of missing) await make(partner, one);
  return missing;
}

/** One call; a repeat finds nothing missing. */
async function make(partner: PartnerClient, one: MissingDefinition): Promise<void> {
  if (one.what === 'field') await partner.customFields.create({ body: one.body }, { priority: 'live' });
  else
    await partner.customFields.update(
      { params: { customFieldId: one.fieldId }, body: { options: one.options } },
      { priority: 'live' },
    );
}

function isMeant(
  { id, entity, label }: Pick<FieldDefinition, 'id' | 'entity' | 'label'>,
  { source, customField }: { source: string; customField: string },
): boolean {
  return entity === source && (id === customField || foldLabel(label) === foldLabel(customField));
}

/** Of the type that fits the field of the HR system; where a lookup lists the values, they are its options. */
function definitionFor(field: CompiledField, entity: string, fieldLabel: string): CustomFieldDefinition {
  const entityType = entity === 'job' ? 'job' : 'candidate';
  const options = lookupKeys(field) ?? field.def.options;
  if (options !== undefined)
    return { entityType, fieldLabel, fieldType: field.def.type === 'list' ? 'multi-select' : 'select', options };
  const types = { text: 'text', number: 'number', date: 'date', boolean: 'checkbox', list: 'textarea' } as const;
  return { entityType, fieldLabel, fieldType: types[field.def.type] };
}

function missingOptions(
  field: CompiledField,
  { options }: FieldDefinition,
  known: FieldDefinition | undefined,
): string[] {
  if (!options?.length) return [];
  const wanted = new Set([...(known?.options ?? []), ...(lookupKeys(field) ?? [])]);
  return [...wanted].filter((option) => !options.includes(option));
}

/** Transforms stand between the option and the key of the lookup. */
function lookupKeys({ lookup, transforms }: CompiledField): string[] | undefined {
  const keys = Object.keys(lookup ?? {});
  return keys.length === 0 || keys.length > MOST_OPTIONS || transforms.length > 0 ? undefined : keys;
}
