import type { CustomField } from '../partner/contract/custom-fields.ts';
import { decodeValue } from '../partner/custom-field-forms.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { pathsRead } from './compile-rule.ts';
import type { Mapping } from './load-mapping.ts';
import type { MappingSources } from './read-source.ts';
import { sourceRecords } from './source-fields.ts';

type Shown = Readonly<Record<string, { label?: unknown; value?: unknown }>>;

/**
 * Decodes each custom field's value by its type. A value whose definition is gone is left out: the hiring platform
 * keeps such values, but nobody can correct them there.
 */
export function decodeCustomFields(sources: MappingSources, defined: readonly FieldDefinition[]): MappingSources {
  return Object.fromEntries(
    Object.entries(sources).map(([name, record]) => {
      if (record === undefined) return [name, record];
      const own = definedFor(name, defined);
      const nested = nestedLists.flatMap((list) => {
        const entries = record[list];
        return Array.isArray(entries) ? [[list, entries.map((entry: unknown) => decodeEntry(entry, own))]] : [];
      });
      return [name, { ...decodeEntry(record, own), ...Object.fromEntries(nested) }];
    }),
  );
}

const nestedLists: readonly string[] = sourceRecords.candidate.lists;

function decodeEntry<T>(entry: T, defined: readonly FieldDefinition[]): T {
  const shown = (entry as { customFields?: unknown } | null)?.customFields;
  return isShown(shown) ? { ...entry, customFields: decodeShown(shown, defined) } : entry;
}

/**
 * Whether the records themselves show that these definitions still hold: every field they show has the known id and
 * label, and all `wanted` fields are shown.
 */
export function areShown(
  sources: MappingSources,
  defined: readonly FieldDefinition[],
  wanted: readonly FieldDefinition[],
): boolean {
  const shown = Object.entries(sources).flatMap(([name, record]) => {
    const fields = record?.['customFields'];
    return isShown(fields) ? Object.entries(fields).map(([id, { label }]) => ({ name, id, label })) : [];
  });
  const isKnown = shown.every(({ name, id, label }) =>
    definedFor(name, defined).some((one) => one.id === id && one.label === label),
  );
  return isKnown && wanted.every(({ id }) => shown.some((one) => one.id === id));
}

/** A job candidate shows its candidate's fields (section 2.4). */
function definedFor(record: string, defined: readonly FieldDefinition[]): FieldDefinition[] {
  const entity = record === 'jobCandidate' ? 'candidate' : record;
  return defined.filter((one) => one.entity === entity);
}

function decodeShown(shown: Shown, defined: readonly FieldDefinition[]): Shown {
  const known = new Map(defined.map((one) => [one.id, one]));
  return Object.fromEntries(
    Object.entries(shown).flatMap(([id, field]) => {
      const definition = known.get(id);
      if (definition === undefined) return [];
      // The definition's label counts: a record that is read during a renaming may show another label.
      const { type, label } = definition;
      return [[id, { ...field, label, value: decodeValue(type, field.value) }]];
    }),
  );
}

function isShown(value: unknown): value is Shown {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((field) => typeof field === 'object' && field !== null)
  );
}

/** A custom field of the partner that a mapping names. */
export interface CustomFieldUse {
  /** As written in the file: `candidate.customFields[Start date]`, or a key of the tenant file. */
  path: string;
  entity: string;
  /** Its label or id. */
  wanted: string;
  /** Whether the tenant's own files name it; a field named only by a default mapping need not exist. */
  own: boolean;
}

/** Every custom field that the mappings read, each once. */
export function customFieldsRead(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields }) => fields);
}

/** Every custom field that the mappings read or write, each once. */
export function customFieldsMapped(mappings: readonly Mapping[]): CustomFieldUse[] {
  return usesIn(mappings, ({ fields, back }) => [...fields, ...back]);
}

function usesIn(mappings: readonly Mapping[], rulesOf: (mapping: Mapping) => Mapping['fields']): CustomFieldUse[] {
  const uses = new Map<string, CustomFieldUse>();
  for (const mapping of mappings)
    for (const field of rulesOf(mapping))
      for (const path of pathsRead(field)) {
        if (!('customField' in path)) continue;
        const own = Object.hasOwn(mapping.files, field.at.file) || uses.get(path.text)?.own === true;
        uses.set(path.text, { path: path.text, entity: path.source, wanted: path.customField, own });
      }
  return [...uses.values()];
}

/** Custom fields that the tenant file writes back to; the schema makes sure they are ids. */
export function customFieldsWritten({
  customField,
  employeeUrl,
  holdReason,
  values,
}: {
  customField?: string | undefined;
  employeeUrl?: string | undefined;
  holdReason?: string | undefined;
  values: ReadonlyArray<{ customFieldId: string }>;
}): CustomFieldUse[] {
  const named = Object.entries({ customField, employeeUrl, holdReason }).flatMap(([key, wanted]) =>
    wanted === undefined ? [] : [{ path: `writeBack.${key}`, wanted }],
  );
  const mapped = values.map(({ customFieldId }) => ({
    path: `writeBack.values[${customFieldId}]`,
    wanted: customFieldId,
  }));
  return [...named, ...mapped].map((use) => ({ ...use, entity: 'candidate', own: true }));
}

/** A custom field of the partner in the form in which it is stored. */
export function definitionOf(field: CustomField): FieldDefinition {
  const { id, entityType, fieldLabel, fieldType, parentSection, options } = field;
  return {
    id,
    entity: entityType,
    label: fieldLabel,
    type: fieldType,
    section: parentSection ?? null,
    options: options ?? null,
  };
}
